"""Error codes of the family `ops`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0201": (
        "an operand of the wrong type, or none at all",
        """
Every operand of an op takes a set of types, for example "integer or float" or "tile of f32 or f64", and for
some ops only certain ranks. The label shows the type that was found.

    x = tl.load(p + i)          # f16
    y = tl.math.log1p(x)        # error: the operand must be f32 or f64

Fix: convert the value first.

    y = tl.math.log1p(x.to(tl.float32))
""",
    ),
    "X0202": (
        "a rule of an op is broken",
        """
The line after "requires" is the rule, with the label it has in the op's documentation; the label beside the
caret shows the types and attributes it speaks about. `xdslc ops NAME` prints all rules of an op.

Fix: change the operand or the attribute that the rule names.
""",
    ),
    "X0203": (
        "an attribute that is missing, unknown, or of the wrong kind",
        """
Attributes are values known when compiling: an axis, a shape, a rounding mode. The message names the
attribute, the help line what is allowed.

    y = x.to(tl.float16, fp_downcast_rounding="up")     # error: rounding is 'up', one of: 'rtne', 'rtz'

Fix: use one of the values the help line names.
""",
    ),
    "X0204": (
        "result types that the op does not have",
        """
The recorded types of an op's results are not those that its type rule derives from the operands. A kernel
cannot cause this; IR text written by hand, or a pass that changed an operand without the results, can.

    %s = tile.add %a, %b : tile<8xf32>      // error where %a is tile<4xf32>

Fix: give the results the types that the message names.
""",
    ),
    "X0205": (
        "a constant that is out of range",
        """
An integer constant must be one of its element's values: -128 to 127 for i8, 0 to 255 for u8, and so on.

    mask = tl.full([64], 300, tl.uint8)         # error: 300 does not fit u8

Fix: use a wider element, or say that wrapping is meant.

    mask = tl.full([64], 300, tl.int32).to(tl.uint8)    # 44
""",
    ),
    "X0206": (
        "an empty range",
        """
A range holds the integers from its start up to, but not including, its end; a tile has at least one lane.

    i = tl.arange(4, 0)     # error
    i = tl.arange(0, 0)     # error

Fix: give an end above the start. It need not be a power of two here, though a target may ask for it.
""",
    ),
    "X0207": (
        "extents that no tile can have",
        """
A tile has at least one axis, and every extent is 1 or more.

    x = tl.zeros([4, 0], tl.float32)        # error

Fix: give positive extents. Lanes that are not needed are masked off, not left out.
""",
    ),
    "X0208": (
        "a constant of the wrong kind",
        """
In the IR, the value of a constant is a bool for i1, an int for integers and a float for floats; pointers have
no constants.

    %c = tile.constant {type = f32, value = 1} : f32        // error
    %c = tile.constant {type = f32, value = 1.0} : f32

Fix: write the value in the kind of the element.
""",
    ),
    "X0209": (
        "operands of different types",
        """
The ops of the IR do not convert: both sides have one element and one shape. The kernel language converts and
broadcasts for you where Triton does, so this mostly shows in IR written by hand or made by a pass.

    %s = tile.add %a, %b : tile<4xf32>      // error where %b is tile<4xi32>

Fix: cast one side with tile.cast, or bring it to the shape of the other with tile.splat or tile.broadcast.
""",
    ),
    "X0210": (
        "operands of different shapes",
        """
The operands that the rule names must have the same extents; nothing is broadcast silently in the IR.

    %v = tile.select %c, %a, %b : tile<4xf32>       // error where %c is i1

Fix: bring the smaller operand to the shape of the other with tile.splat, tile.expand_dims and tile.broadcast.
""",
    ),
    "X0211": (
        "inner dimensions of a matrix product differ",
        """
A product of an M x K tile and a K x N tile needs the same K on both sides.

    d = tl.dot(a, b)        # error where a is tile<4x8xf16> and b is tile<4x2xf16>

Fix: transpose the side that lies the other way, or load it with the other order of strides.

    d = tl.dot(tl.trans(a), b)
""",
    ),
    "X0212": (
        "an axis that is not there",
        """
Axes count from 0 to the rank less 1 (in the kernel language also from -1 down, as in numpy); a grid has the
axes 0, 1, 2.

    s = tl.sum(x, axis=2)           # error where x is tile<4x8xf32>
    pid = tl.program_id(3)          # error

Fix: name an axis that the value has.
""",
    ),
    "X0213": (
        "a mask of another shape",
        """
A mask says for every lane whether it takes part, so it has the shape of what it masks.

    x = tl.load(p + i[:, None] + j[None, :], mask=i < n)        # error: the mask has rank 1

Fix: broadcast the mask.

    x = tl.load(p + i[:, None] + j[None, :], mask=(i < n)[:, None] & (j < m)[None, :])
""",
    ),
    "X0214": (
        "a value that does not fit the pointer",
        """
What is stored through a pointer, what replaces masked-off lanes of a load, and what an atomic operation
combines with, has the element that the pointer points to and the pointer's shape.

    %p: tile<4xptr<f32>>, %v: tile<4xf64>
    memory.store %p, %v                             // error

Fix: cast the value to the pointee, and broadcast it to the shape of the pointer.
""",
    ),
    "X0215": (
        "a cast that changes nothing",
        """
tile.cast makes another dtype of the operand's. A cast to the dtype it has already is left out, so that equal
programs have equal IR.

    %y = tile.cast %x {to = f32} : f32      // error where %x is f32

Fix: use the operand itself.
""",
    ),
    "X0216": (
        "a bit cast between different widths",
        """
Reading the same bits as another dtype needs a dtype of the same width.

    y = x.to(tl.int64, bitcast=True)        # error where x is float32

Fix: use a dtype of the same width (int32 here), or convert the value without bitcast.
""",
    ),
    "X0217": (
        "a reshape that changes the number of elements",
        """
Reshaping keeps all elements, so the products of the extents are equal.

    y = tl.reshape(x, (5, 5))       # error where x is tile<4x6xf32>

Fix: choose extents whose product is that of the old ones: (3, 8), (24,), (2, 3, 4).
""",
    ),
    "X0218": (
        "a permutation that is none",
        """
The order names every axis of the source exactly once.

    y = tl.permute(x, (0, 0))       # error

Fix: for a matrix, (1, 0) transposes.
""",
    ),
    "X0219": (
        "a broadcast that cannot be",
        """
Broadcasting repeats axes of extent 1. It keeps the rank, and an axis of another extent stays as it is.

    y = tl.broadcast_to(x, (6, 7))      # error where x is tile<3x7xf32>

Fix: add axes of extent 1 first (x[None, :]), and repeat only those.
""",
    ),
    "X0220": (
        "an accumulator of the wrong dtype",
        """
A matrix product accumulates f64 in f64, all other floats in f32, and 8-bit integers in i32.

    acc = tl.zeros([16, 16], tl.float16)
    acc = tl.dot(a, b, acc)             # error in the IR: the accumulator must be f32

Fix: accumulate in the wide dtype and cast once, after the loop.
""",
    ),
    "X0221": (
        "a region that does not fit its op",
        """
The code inside a loop, a branch or a combine function takes and gives values of fixed types: a loop's body
takes what the loop carries and gives back the same types; both branches give the same; a combine function
takes two elements of every tile and gives one.

    acc = tl.zeros([8], tl.float16)
    for k in range(n):
        acc = acc + tl.load(p + k).to(tl.float32)       # error: acc starts as f16 and becomes f32

Fix: start from the type the value has at the end, or cast it there.
""",
    ),
    "X0222": (
        "loop bounds of different types",
        """
Start, end and step of a loop are integers of one type.

    control.for %lower, %upper, %step       // error where %lower is i32 and %upper is i64

Fix: cast them to the widest of their types.
""",
    ),
    "X0223": (
        "an atomic operation that the element does not have",
        """
Bitwise atomics (and, or, xor) need integers; max and min need integers, f32 or f64.

    tl.atomic_max(p, v)         # error where p points to float16

Fix: use memory of another element for what is updated atomically.
""",
    ),
    "X0224": (
        "a combine function with effects",
        """
A reduction or a scan may call its combine function in any number and order, so it must not load, store or
print.

Fix: load before the reduction and pass the values in, as further tiles if need be; print the result after it.
""",
    ),
    "X0225": (
        "`other` without a mask",
        """
`other` fills the lanes that a mask switches off; without a mask there are none.

    x = tl.load(p + i, other=0.0)               # error

Fix: add the mask, or leave `other` out.

    x = tl.load(p + i, mask=i < n, other=0.0)
""",
    ),
}
