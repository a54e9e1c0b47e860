"""Error codes of the family `backend`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0601": (
        "no backend has this name",
        """
A backend is asked for that no installed package provides.

    xdsl.use("cpuc")            # there is no backend 'cpuc'

`xdslc backends` lists the backends that are installed. Correct the name (the error suggests the nearest one),
or install the package that brings the backend: it declares it in the entry-point group xdsl_core.backends.
""",
    ),
    "X0602": (
        "the backend is installed but cannot be used",
        """
An installed package provides this backend, but it could not be loaded. The error says at which stage and why:

    discover   another installed package provides the same name, and that one is used
    import     the backend's module raised while it was imported
    hooks      a hook is unknown, missing, or has parameters the hook does not have
    info       what the backend says of itself is not valid
    version    it was written for another version of the plugin API

Other backends are not affected. Update or remove the package; `xdslc backends` shows the traceback.
""",
    ),
    "X0603": (
        "an object cannot be used as a plugin",
        """
Registry.register or Registry.add_plugin was given an object whose hooks are not valid.

    class Mine:
        @hookimpl
        def xdsl_codgen(self, module): ...      # there is no hook xdsl_codgen

A backend must have all required hooks; every hook's parameters must be among the declared ones; a plugin that
is no backend may observe, and wrap other hooks with @hookimpl(wrapper=True), but not answer them. The hooks
are documented in xdsl_core/backend/hookspecs.py.
""",
    ),
    "X0604": (
        "the backend has no such target",
        """
A target is written backend:name, and the backend has no machine of this name.

    kernel.on("dsa_sim:ascend910")              # dsa_sim has no target 'ascend910'

`xdslc targets` lists all of them. Without a name ("dsa_sim") the backend's first target is used.
""",
    ),
    "X0605": (
        "this is not a target",
        """
A target is the name of a backend, or backend:name for one of its machines, without spaces.

    xdsl.use("cpu_c : host")                    # wrong
    xdsl.use("cpu_c:host")                      # right
""",
    ),
    "X0606": (
        "the backend has no such option",
        """
A keyword of a launch is neither a parameter of the kernel nor an option of the backend.

    kernel[grid](x, n, BLOCK=128, num_warp=4)   # did you mean 'num_warps'?

num_warps, num_stages, num_ctas, maxnreg and debug are known to every backend; `xdslc backends NAME` lists the
rest.
""",
    ),
    "X0607": (
        "the value of an option has the wrong type",
        """
Options are typed, and values are not converted where information could be lost.

    kernel[grid](x, n, num_warps="4")           # num_warps is int
    kernel[grid](x, n, debug=1)                 # debug is bool: write True

Pass a value of the type that the error names.
""",
    ),
    "X0608": (
        "a hook returned the wrong type",
        """
Every hook's result is checked where it enters the compiler. The error names the backend, the hook, what it
returned and what it has to return. This is a mistake in the backend, or in a plugin that wraps its hooks, not
in your kernel.

Report it to the authors. As an author, run `python -m xdsl_core.backend.testing NAME`.
""",
    ),
    "X0609": (
        "a hook failed",
        """
A hook raised an exception that is not one of the compiler's own errors. This is a mistake in the backend, or
in a plugin that wraps its hooks; the error names those.

Set XDSL_DEBUG=1 to see the traceback, and report it to the authors. As an author, raise an XdslError with a
diagnostic for everything a user can cause.
""",
    ),
    "X0610": (
        "the backend does not claim this op for this dtype",
        """
Each backend claims ops together with element types. The kernel uses an op it claims, but with a type it does
not.

    acc = tl.dot(a, b)                          # a and b are f64, the chip multiplies f16, bf16 and i8

Cast to one of the types the error names, or run the kernel on another backend. `xdslc ops NAME` shows who
claims what.
""",
    ),
    "X0611": (
        "the backend does not claim this op",
        """
The kernel uses an op the backend does not do on this target at all; the error gives the reason where the
backend states one.

    tl.atomic_add(p, v)                         # a chip without atomics

Write that part of the kernel with other ops, or run it on another backend.
""",
    ),
    "X0612": (
        "the backend does not claim this op for tiles of this shape",
        """
Backends limit some ops: the rank, the number of elements, or the extents (smallest, largest, a multiple, a
power of two).

    i = tl.arange(0, 48)                        # a target that needs powers of two

Choose another tile shape, usually by another value of a constexpr such as BLOCK.
""",
    ),
    "X0613": (
        "a claim has an unknown limit",
        """
The limits of a Claim are max_rank, min_extent, max_extent, multiple_of, power_of_two and max_elements.

    Claim("tile.dot", frozenset({"f16"}), {"min_extend": 16})     # write min_extent

This is a mistake in the backend's xdsl_capabilities.
""",
    ),
    "X0614": (
        "the backend is not available on this machine",
        """
The backend is installed, but what it needs is not there: a compiler, a driver, a device. The error says what
is missing and how to get it. `xdslc doctor` checks all backends.
""",
    ),
    "X0620": (
        "a target file cannot be read",
        """
A target file is TOML with the fields of TargetDescription. Each number carries the source it was taken from:
next to it, or once for its table, or once at the top of the file.

    name = "x1"
    source = "Acme X1 data sheet, revision 3"
    cores = 8
    clock_hz = { value = 1.2e9, source = "measured" }

    [[memory_spaces]]
    name = "SRAM"
    portable = "VECTOR"
    capacity = "256 KiB"
    alignment = 32

The error names the file, the place in it, and the fix.
""",
    ),
    "X0621": (
        "a target description contradicts itself",
        """
The file could be read, but what it says cannot be: a space or unit described twice, a data path to a space
that does not exist, a size that is not above zero, a matrix unit without fractals. The error names the entry.
Correct it there.
""",
    ),
    "X0622": (
        "the target has no such memory space",
        """
A tile or buffer is placed in a memory space that this target does not have.

Kernels use the portable names GLOBAL, SHARED, LEFT, RIGHT, ACC and VECTOR; a target maps those it has. The
error lists them. Place the tile elsewhere, or choose a target that has the space.
""",
    ),
}
