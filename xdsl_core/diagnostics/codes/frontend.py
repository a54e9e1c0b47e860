"""Error codes of the family `frontend`: code -> (title, explanation)."""

from xdsl_core.diagnostics.codes.frontend_values import VALUE_CODES

_SOURCE_CODES: dict[str, tuple[str, str]] = {
    "X0101": (
        "A function of the language is called outside a kernel",
        """
Functions of `tl` make operations of the kernel that is being compiled. Python itself cannot run them.

    x = tl.arange(0, 8)                 # error at module level

    @xdsl.jit
    def kernel(out):                    # right: inside a kernel
        i = tl.arange(0, 8)
        tl.store(out + i, i)

    kernel[(1,)](out)
""",
    ),
    "X0102": (
        "A kernel reads an ordinary global",
        """
A compiled kernel would not notice when a global changes. Kernels may therefore read only globals that say
they are compile-time values, and modules, dtypes and functions.

    SCALE = 2                           # error when a kernel reads it
    SCALE = tl.constexpr(2)             # right

Or pass the value as an argument, `scale: tl.constexpr`. Changing a constexpr global compiles the kernel anew.
""",
    ),
    "X0103": (
        "A name is not defined",
        """
The name is neither a variable of the kernel that has a value yet, nor a global of its file, nor a function of
Python that kernels know.

    y = x + offset                      # error if offset never got a value

Check the spelling; imports belong at the top of the file.
""",
    ),
    "X0104": (
        "A statement cannot be used in kernels",
        """
Kernels are compiled, not run by Python. They know assignments, calls, `if`, `for`, `while`, `return`,
`assert`, `pass` and `del`.

    with lock: ...                      # error
    try: ...                            # error: a kernel raises no exceptions
    import math                         # error: import at the top of the file
""",
    ),
    "X0105": (
        "An expression cannot be used in kernels",
        """
Kernels know numbers, strings, tuples, arithmetic, comparisons, calls, subscripts, conditional expressions,
f-strings of compile-time values and comprehensions over tuples. Lambdas, dicts and sets are not among them.

    f = lambda x: x * x                 # error

    @xdsl.jit
    def square(x):                      # right: a helper at module level
        return x * x
""",
    ),
    "X0106": (
        "break or continue in a kernel",
        """
Loops of kernels are structured: they run through their body to its end.

    for k in range(0, n):
        if k % 2 == 0:
            continue                    # error
        total += k

    for k in range(0, n):
        if k % 2 != 0:                  # right: the rest of the body in an if
            total += k

    go_on = True
    while go_on:                        # instead of break: a flag in the condition
        ...
        go_on = not found
""",
    ),
    "X0107": (
        "return inside a loop",
        """
A function returns before, after, but not inside a loop of the running kernel.

    for k in range(0, n):
        if x > k:
            return k                    # error

    found = -1
    for k in range(0, n):
        found = tl.where((x > k) & (found < 0), k, found)
    return found                        # right: after the loop

Loops over `tl.static_range` are unrolled, so there `return` is allowed.
""",
    ),
    "X0108": (
        "A function is defined inside a kernel",
        """
Helpers are functions of their own.

    @xdsl.jit
    def kernel(x):
        def square(v): ...              # error

    @xdsl.jit
    def square(v):                      # right: at module level
        return v * v
""",
    ),
    "X0109": (
        "The source of a kernel cannot be read",
        """
Kernels are compiled from their source text, so Python must know it: the function has to be defined with `def`
in a file. Functions typed at a prompt, made by `exec`, or written as lambdas have no text to read.
""",
    ),
    "X0110": (
        "A compile-time computation fails",
        """
Operations on compile-time values follow Python's rules and are done while compiling. This one raised an
exception.

    N: tl.constexpr = 8
    M: tl.constexpr = N // 0            # error: ZeroDivisionError
""",
    ),
    "X0111": (
        "A value must be known when compiling",
        """
Shapes, axes, dtypes and options are part of the compiled kernel. A local variable is a value of the running
kernel, even if it gets a literal, unless it is annotated.

    n = 64
    i = tl.arange(0, n)                 # error: n is a variable

    n: tl.constexpr = 64                # right
    i = tl.arange(0, n)

Parameters are compile-time when annotated: `def kernel(x, BLOCK: tl.constexpr)`.
""",
    ),
    "X0112": (
        "The arguments of a call do not fit",
        """
The function has other parameters: an argument is missing, there is one too many, or a keyword is unknown.

    tl.load(p, maks=m)                  # error: did you mean mask=?

The message shows the signature.
""",
    ),
    "X0113": (
        "Something that kernels cannot call is called",
        """
Kernels call functions of `tl` and helpers decorated with `@xdsl.jit`. An ordinary Python function that
computes on compile-time values can be offered with `@tl.constexpr_function`.

    def half(n): return n // 2
    BLOCK: tl.constexpr = half(N)       # error

    @tl.constexpr_function
    def half(n): return n // 2          # right
""",
    ),
    "X0114": (
        "There is no such attribute",
        """
Neither the module, the compile-time value nor the tensor has an attribute of this name. Tensors have `dtype`,
`shape`, `type`, `numel`, `T` and the functions of `tl` that take a tensor first (`x.to(...)`, `x.sum(...)`).
""",
    ),
    "X0115": (
        "An argument is of the wrong kind",
        """
The function wants something else in this place: a tile, a number, a dtype, a string, or a tuple of integers.

    x.to("float16")                     # error: a string
    x.to(tl.float16)                    # right: a dtype
""",
    ),
    "X0116": (
        "The number of values to unpack does not fit",
        """
a, b = helper(x)                    # error if helper returns one value, or three

Name every value; values that are not needed can be called `_`.
""",
    ),
    "X0117": (
        "A tile is indexed",
        """
A tile is a value without addresses: `x[3]` would have to move data between lanes. The index may add axes
(`None`) and keep axes (`:`), nothing else.

    row = x[None, :]                    # right
    third = x[3]                        # error
    third = tl.sum(tl.where(tl.arange(0, 8) == 3, x, 0))        # right
    third = tl.load(pointer + 3)        # right, if it is in memory
""",
    ),
    "X0118": (
        "Something other than a variable is assigned to",
        """
Tiles and tuples are values; their elements cannot be changed.

    x[0] = 1                            # error
    x = tl.where(tl.arange(0, 8) == 0, 1, x)    # right
    tl.store(pointer, 1)                # right, if it is in memory
""",
    ),
    "X0199": (
        "The compiler failed",
        """
This is a mistake of the compiler, not of the kernel. Run with XDSL_DEBUG=1 for its traceback, and please
report it with the kernel.
""",
    ),
}

CODES: dict[str, tuple[str, str]] = {**_SOURCE_CODES, **VALUE_CODES}
