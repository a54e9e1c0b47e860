"""Error codes of the family `launch`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0501": (
        "the grid is not a tuple of one to three extents",
        """
The grid says how many programs run along each of up to three axes.

    kernel[128](x, n)                           # wrong: an integer
    kernel[(128,)](x, n)                        # right
    kernel[lambda meta: (xdsl.cdiv(n, meta["BLOCK"]),)](x, n, BLOCK=64)   # right: computed from the arguments

A list works like a tuple. An extent of zero runs nothing.
""",
    ),
    "X0502": (
        "an extent of the grid is out of range",
        """
Each extent is an integer from 0 to 2147483647.

    kernel[(n // -4,)](x, n)                    # wrong: negative

Extents that come from a division are often floats: write xdsl.cdiv(n, BLOCK) or n // BLOCK instead of n /
BLOCK.
""",
    ),
    "X0503": (
        "an argument is missing",
        """
A parameter without a default was given no argument. Constexpr parameters are passed by keyword, and are as
necessary as the others.

    kernel[grid](x, y, n)                       # BLOCK is missing
    kernel[grid](x, y, n, BLOCK=128)            # right
""",
    ),
    "X0504": (
        "an argument belongs to no parameter",
        """
There are more positional arguments than parameters, or a keyword is neither a parameter of the kernel nor an
option of the backend.

    kernel[grid](x, y, n, BLOK=128)             # did you mean 'BLOCK'?
""",
    ),
    "X0505": (
        "a value of this type cannot be an argument",
        """
Arguments are arrays (numpy, torch on the CPU, anything with DLPack, __array_interface__, or data_ptr and
dtype), numbers, or None. Any hashable value can be passed to a constexpr parameter.

    kernel[grid]([1.0, 2.0], 2, BLOCK=2)                    # wrong: a list
    kernel[grid](numpy.array([1.0, 2.0]), 2, BLOCK=2)       # right

Parameters annotated with a scalar type take a number, not an array.
""",
    ),
    "X0506": (
        "the array's element type does not exist in the language",
        """
Elements are bool, integers of 8 to 64 bits, float16, bfloat16, float32, float64 and the 8-bit floats of
ml_dtypes, in the machine's byte order.

    kernel[grid](x.astype(numpy.complex64), ...)    # wrong: pass the real and the imaginary part

Convert the array with astype, or pass a view of another dtype.
""",
    ),
    "X0507": (
        "the tensor is not in the host's memory",
        """
The kernel runs on this machine's CPU (or in a simulator), and the tensor is on another device.

    kernel[grid](x.cuda(), ...)                 # wrong
    kernel[grid](x.cpu(), ...)                  # right, and copy the result back

Nothing is copied behind your back.
""",
    ),
    "X0508": (
        "the kernel writes to a read-only array",
        """
The kernel stores through this parameter, but the array may not be written.

    x = numpy.broadcast_to(v, (4, 8)); kernel[grid](x, ...)       # wrong
    x = numpy.broadcast_to(v, (4, 8)).copy()                       # right

Arrays from numpy.frombuffer, numpy.broadcast_to and memory maps opened for reading are read-only.
""",
    ),
    "X0509": (
        "a number does not fit its parameter",
        """
A scalar parameter annotated with a type takes numbers of that type and range; one without takes integers of
up to 64 bits.

    def kernel(n: tl.int32): ...
    kernel[grid](2**40)                         # out of range: annotate n with tl.int64
    kernel[grid](2.5)                           # an integer is needed
""",
    ),
    "X0510": (
        "the value of a constexpr parameter cannot be hashed",
        """
A kernel is compiled once for each value of its constexpr parameters, so the values must be hashable.

    kernel[grid](x, SHAPE=[4, 8])               # wrong: a list
    kernel[grid](x, SHAPE=(4, 8))               # right: a tuple
""",
    ),
    "X0511": (
        "no backend can run here",
        """
No backend was chosen, and none of those that are tried by default is available. The error lists why. Choose
one with xdsl.use("name"), kernel.on("name") or the environment variable XDSL_BACKEND; `xdslc doctor` says
what is missing.
""",
    ),
    "X0512": (
        "a kernel was called without a grid",
        """
A kernel is launched over a grid; a function with @xdsl.jit can be called directly only from another kernel.

    kernel(x, y, n)                             # wrong
    kernel[(4,)](x, y, n)                       # right: four programs
""",
    ),
    "X0513": (
        "the settings of autotune or heuristics do not fit the kernel",
        """
A name in key, reset_to_zero, restore_value or in the keywords of a Config is no parameter of the kernel, or
there is no config at all.

    @xdsl.autotune([xdsl.Config({"BLOCK": 64})], key=["size"])     # the kernel calls it n

Use the names of the kernel's parameters, and options of the backend such as num_warps.
""",
    ),
    "X0514": (
        "an argument is set both by a config and by the caller",
        """
autotune chooses the keywords of its configs, so the launch must not pass them too.

    @xdsl.autotune([xdsl.Config({"BLOCK": 64})], key=["n"])
    ...
    kernel[grid](x, n, BLOCK=128)               # wrong: leave BLOCK out
""",
    ),
    "X0515": (
        "no config of autotune works",
        """
Every config was tried, and each failed to compile or to run. The error shows the first failure; the others
may differ. Add a config the backend can do (often a smaller tile), or correct the kernel.
""",
    ),
    "X0516": (
        "a kernel with variable parameters",
        """
A kernel is compiled for the types of its arguments, so it needs a name for each.

    @xdsl.jit
    def kernel(x, *rest): ...                   # wrong
    def kernel(x, y, z): ...                    # right

Helper functions that kernels call may take *arguments, and a constexpr parameter may be a tuple.
""",
    ),
    "X0517": (
        "a backward function with another number of gradients than arguments",
        """
The backward function of an operator of xdsl_core.torch returns a gradient for each argument of the forward
function, and None for those that have none (numbers, arguments that need no gradient).

    @scale.backward
    def _(saved, grad):
        return scale(grad, saved.inputs[1]), None    # x and factor
""",
    ),
}
