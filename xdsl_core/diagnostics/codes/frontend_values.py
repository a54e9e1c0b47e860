"""Error codes of the family `frontend` that concern values: types, shapes, loops, arguments."""

VALUE_CODES: dict[str, tuple[str, str]] = {
    "X0119": (
        "An operation does not work on these operands",
        """
Pointers take `+` and `-` with integers. `//`, shifts and bit operators take integers, `and`, `or`, `not`
bools. Two pointers cannot be added.

    p + 0.5                             # error: offsets are integers
    x | y                               # error for floats
    (x > 0) & (y > 0)                   # right
""",
    ),
    "X0120": (
        "Signed and unsigned integers meet in a division",
        """
`/`, `//` and `%` of a signed and an unsigned integer have no useful answer for negative values, so one has to
be cast.

    u32_tile % i32_tile                 # error
    u32_tile.to(tl.int32) % i32_tile    # right, if the values fit

Python numbers take the dtype of the tile: `u32_tile % 7` is unsigned.
""",
    ),
    "X0121": (
        "A number does not fit its dtype",
        """
A Python number takes the dtype of the tile it meets, or the dtype asked for, and must be one of its values.

    u8_tile + 300                       # error: uint8 holds 0 to 255
    u8_tile.to(tl.int32) + 300          # right
    tl.full([8], 1.5, tl.int32)         # error: no integer
""",
    ),
    "X0122": (
        "Shapes do not agree",
        """
Operands are broadcast as in numpy: shapes are aligned at their last axis, and extents must be equal or 1.

    rows + columns                      # error for shapes [16] and [32]
    rows[:, None] + columns[None, :]    # right: [16, 32]
""",
    ),
    "X0123": (
        "A condition is a tile",
        """
`if`, `while` and conditional expressions decide for the whole program, so they need one value.

    if x > 0: ...                       # error for a tile
    y = tl.where(x > 0, x, 0)           # right: lane by lane
    if tl.max(x, axis=0) > 0: ...       # right: one value
""",
    ),
    "X0124": (
        "A value is different things on two paths",
        """
After an `if` of the running kernel a variable must have one type, whichever branch ran. The same holds for
both sides of a conditional expression.

    if n > 0:
        y = x                           # float32
    else:
        y = 0                           # int32: error when y is used

    else:
        y = 0.0                         # right, for a scalar x
        y = tl.zeros_like(x)            # right, for a tile x
""",
    ),
    "X0125": (
        "A variable changes its type in a loop",
        """
What a loop hands from one iteration to the next keeps its dtype and shape.

    acc = tl.zeros([8], tl.float16)
    for k in range(0, n):
        acc += tl.load(p + ...)         # error: the sum with float32 is float32

    acc = tl.zeros([8], tl.float32)     # right: start with the dtype it has later
    acc += tl.load(...).to(tl.float16)  # or keep the narrow one
""",
    ),
    "X0126": (
        "A compile-time variable changes",
        """
A `tl.constexpr` has one value. In a loop of the running kernel it cannot change from iteration to iteration,
and a variable of the running kernel cannot become one.

    step: tl.constexpr = 1
    for k in range(0, n):
        step = step * 2                 # error

    step = 1                            # right: a variable of the running kernel
    for k in tl.static_range(4): ...    # or a loop that is unrolled
""",
    ),
    "X0127": (
        "A variable may have no value",
        """
On some path to this use the variable never got a value: only one branch of an `if` sets it, or only a loop
that may run zero times.

    if n > 0:
        y = x
    tl.store(p, y)                      # error

    y = tl.zeros_like(x)                # right: a value before the if
    if n > 0:
        y = x
""",
    ),
    "X0128": (
        "A loop iterates over something that does not count",
        """
Loops count: `range` and `tl.range` when the kernel runs, `tl.static_range` when it is compiled.

    for x in values: ...                # error

    for i in tl.static_range(len(values)):      # right, for a tuple
        x = values[i]
""",
    ),
    "X0129": (
        "The bounds of a loop cannot be used",
        """
Start, end and step are integer scalars, and the step is not 0. A step that is a variable of the running
kernel must be positive; a negative step is written into the range.

    for k in range(0, x): ...           # error if x is a float or a tile
    for k in range(n, 0, -1): ...       # right
""",
    ),
    "X0130": (
        "A compile-time assertion fails",
        """
`tl.static_assert`, or `assert` on a compile-time condition, found its condition false for the values the
kernel is compiled for.

    tl.static_assert(BLOCK % 16 == 0, "BLOCK must be a multiple of 16")
""",
    ),
    "X0131": (
        "A function does not take this dtype",
        """
Math functions take float32 and float64, as in Triton: narrower floats are cast first, so that it is visible
where precision is spent.

    tl.exp(x)                           # error for float16
    tl.exp(x.to(tl.float32))            # right
""",
    ),
    "X0132": (
        "There is no such cast",
        """
Numbers convert to numbers; pointers to other pointers and to and from 64-bit integers. `fp_downcast_rounding`
applies to casts from a float to a narrower float only.
""",
    ),
    "X0133": (
        "A bitcast changes the width",
        """
`x.to(dtype, bitcast=True)` reads the same bits as another dtype of the same width.

    f32_tile.to(tl.int16, bitcast=True) # error: 32 bits to 16
    f32_tile.to(tl.int32, bitcast=True) # right
""",
    ),
    "X0134": (
        "An axis does not exist",
        """
Axes count from 0 to the rank less 1; negative ones count from the end. Grids have the axes 0, 1 and 2.

    tl.sum(x, axis=2)                   # error for a tile of rank 2
""",
    ),
    "X0135": (
        "A shape cannot be used",
        """
Extents are 1 or more, a reshape keeps the number of elements, and a permutation names every axis once.

    tl.reshape(x, (3, 5))               # error for a tile of 16 elements
    tl.permute(x, (0, 0))               # error
""",
    ),
    "X0136": (
        "A load or store does not fit its pointer",
        """
The pointers decide: a tile of pointers gives or takes a tile, a scalar pointer a scalar. Mask, value and
`other` broadcast to the pointers, masks hold bools, and `other` needs a mask.

    tl.store(p, x)                      # error if p is a scalar pointer and x a tile
    tl.store(p + tl.arange(0, 8), x)    # right
    tl.load(p + i, mask=i < n, other=0.0)
""",
    ),
    "X0137": (
        "The operands of a dot do not fit",
        """
`tl.dot` multiplies an (M, K) and a (K, N) tile of one dtype (more leading axes make a batch), and adds them
to an accumulator of shape (M, N) with the dtype of the result: float32 (float64 for float64, int32 for int8
and uint8, and float16 if asked for).

    tl.dot(q, k)                        # error for (64, 32) and (64, 32)
    tl.dot(q, tl.trans(k))              # right
""",
    ),
    "X0138": (
        "An option has no such value",
        """
Cache modifiers, eviction policies, memory orders, scopes, rounding modes and input precisions are strings of
a fixed set; the message lists it.
""",
    ),
    "X0139": (
        "A function returns different things",
        """
Every path through a helper returns values of one dtype and shape, or none does.

    if n > 0:
        return x                        # a value
    tl.store(p, 0)                      # error: here it returns nothing
""",
    ),
    "X0140": (
        "A kernel returns a value",
        """
A kernel is launched, nobody waits for a result: it writes what it computes with `tl.store`. Only helpers that
other kernels call return values.
""",
    ),
    "X0141": (
        "Calls are nested too deeply",
        """
Helpers are inlined where they are called, so recursion has to end while compiling.

    @xdsl.jit
    def power(x, n: tl.constexpr):
        if n == 0:                      # compile-time: right
            return 1
        return x * power(x, n - 1)

With a condition of the running kernel it would never end: use a loop.
""",
    ),
    "X0142": (
        "A while loop would never end",
        """
The condition is a compile-time value and true, so nothing in the running kernel could end the loop. There is
no `break`: put the condition into the `while`.
""",
    ),
    "X0143": (
        "A combine function returns something else",
        """
The function of `tl.reduce` and `tl.associative_scan` takes the values of two elements and returns those of
one, with the dtypes they have.

    @xdsl.jit
    def larger(a, b):
        return tl.maximum(a, b)         # right: one value in, one out, same dtype
""",
    ),
    "X0144": (
        "A loop has an else",
        """
`else` after a loop is for loops with `break`, which kernels do not have. Put the statements after the loop.
""",
    ),
    "X0145": (
        "An atomic does not take this dtype",
        """
Atomics work on integers of 8 to 64 bits and on float32 and float64; `atomic_add` and `atomic_xchg` on float16
and bfloat16 too, the bit operations on integers only, `atomic_cas` on 16, 32 and 64 bits, `atomic_poll` on
integers of those.
""",
    ),
    "X0146": (
        "Options of the other kind of pointer",
        """
`boundary_check` and `padding_option` belong to loads and stores through block pointers; ordinary pointers use
`mask` and `other`. Neither takes what belongs to the other.

    tl.load(p + i, mask=i < n, other=0.0)
""",
    ),
    "X0147": (
        "The arguments do not fit the kernel's parameters",
        """
The compiler was told of arguments that the kernel does not have, or not of one that it needs.
""",
    ),
    "X0160": (
        "The last axis of a tensor descriptor is not contiguous",
        """
Hardware that moves whole blocks needs rows without gaps: the last stride of `tl.make_tensor_descriptor` is
the number 1, known when compiling. A stride that is an argument of the kernel is not.

    tl.make_tensor_descriptor(p, [m, n], [stride, 1], [32, 32])     # right
""",
    ),
    "X0161": (
        "The part is not inside the tile",
        """
A slice, or a part taken by `tl.extract_slice` or put in by `tl.insert_slice`, has at least one element and
lies inside the tile. Offsets that are values of the running kernel are not checked: what lies outside reads
as 0.

    x[4:4]                                        # error: empty
    tl.extract_slice(x, (6,), (4,), (1,))         # error for a tile of 8: places 6 to 9
""",
    ),
    "X0162": (
        "There is no such compile hint",
        """
Hints are typed: each has a name and, where it takes one, a value of its own. A hint that nobody knows would
be dropped without a word, so it is an error. `kernel.hints` of a compiled kernel says which took effect.
""",
    ),
    "X0163": (
        "Tasks or programs would wait forever",
        """
The statements of a program take effect in their order, tasks included, and programs may run one after the
other. A flag that is waited for must have been set by an earlier statement, and a barrier over all programs
is not possible. Fix: order the statements so that each flag is set before it is waited for; end the kernel at
the barrier.
""",
    ),
    "X0164": (
        "The backend has no op of this name",
        """
`tl.custom` makes an op that the backend defines itself in its hook xdsl_register_ops. The kernel is compiled
for a backend that has no such op. Fix: correct the name, or launch on the backend that defines it.
""",
    ),
    "X0165": (
        "A kernel has no clock",
        """
`tl.atomic_poll` waits until a value arrives. A time-out in nanoseconds needs a clock, which kernels do not
have here. Fix: leave `timeout_ns` out, or bound the number of polls with a loop around `tl.atomic_load`.
""",
    ),
    "X0166": (
        "A tile has too many elements",
        """
A tile is what one program works on at a time: at most `tl.TRITON_MAX_TENSOR_NUMEL` = 1048576 elements, as in
Triton. Fix: let more programs of the grid share the work, or go through it in a loop.

    i = tl.arange(0, 1 << 24)           # error
""",
    ),
}
