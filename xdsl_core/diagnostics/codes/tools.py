"""Error codes of the family `tools`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0801": (
        "there is no such file",
        """
A command that works on a kernel takes FILE:KERNEL; the file was not found, or is no Python file.

    xdslc ir examples/matmul.py:matmul_kernel

The path is relative to the current folder. The kernel's name may be left out if the file has only one.
""",
    ),
    "X0802": (
        "the file has no such kernel",
        """
The file was imported, and has no function of this name that is marked with @xdsl.jit at module level. Kernels
that are made inside functions cannot be reached by name.

    @xdsl.jit
    def add_kernel(x, y, out, n, BLOCK: tl.constexpr): ...

The error lists the kernels that the file has.
""",
    ),
    "X0803": (
        "the file cannot be imported",
        """
The file is imported to get at its kernels, and an exception left it. The error shows the exception and its
place. Imports are resolved as in `python FILE`: the file's folder is searched first.

A file that does something when it is imported should do it under `if __name__ == "__main__":`.
""",
    ),
    "X0804": (
        "the types of the kernel's arguments are not known",
        """
A kernel is compiled for the types of its arguments. A launch has arguments; a command has none,
so a signature tells them:

    xdslc ir add.py:add_kernel --signature "x: *f32, y: *f32, out: *f32, n: i32, BLOCK=1024"

or by the file itself, in a table that all commands find:

    SIGNATURES = {"add_kernel": "x: *f32, y: *f32, out: *f32, n: i32, BLOCK=1024"}
""",
    ),
    "X0805": (
        "the signature cannot be read",
        """
A signature is a list of entries with commas between them:

    x: *f32        a pointer to float32       (dtypes are written f32 or fp32, i32, bf16, ...)
    n: i32         a number passed at run time
    n: i32:16      ... that is a multiple of 16; for a pointer, its address in bytes is
    BLOCK=1024     a value the kernel is compiled for
    OUT=tl.float16 ... a dtype

The error points at the entry that is wrong.
""",
    ),
    "X0806": (
        "the signature does not fit the kernel",
        """
Every parameter of the kernel has to be in the signature, unless it has a default, and nothing else may be.

    def kernel(x, n, BLOCK: tl.constexpr)
    --signature "x: *f32, size: i32, BLOCK=64"      # 'size' is no parameter, and n is missing
""",
    ),
    "X0807": (
        "the backend does not emit this",
        """
`xdslc compile --emit KIND` writes the tile IR (tile), the backend's source (c, triton, ...) or a file of the
compiled artifact by its ending (so, ...). The error lists what the backend of this call has.

    xdslc compile matmul.py:matmul_kernel --emit c --backend cpu_c
""",
    ),
    "X0808": (
        "there is no such op or stage",
        """
`xdslc ops NAME` takes the name of an op as the IR prints it, such as tile.dot; `xdslc ops` lists all.
`xdslc ir --stage NAME` takes the name of a pass of the backend's pipeline, or `frontend`.
""",
    ),
    "X0809": (
        "there is no such error code",
        """
`xdslc explain CODE` takes a code as errors print it, such as X0203. `xdslc explain --list` lists all
with their titles.
""",
    ),
    "X0810": (
        "this is no launch option",
        """
`--option` takes the name of an option, an equals sign and its value, a Python literal:

    xdslc ir matmul.py:matmul_kernel --option num_warps=8 --option debug=True

`xdslc backends NAME` lists the options of a backend.
""",
    ),
    "X0811": (
        "a command of another package cannot be used",
        """
An installed package adds this command to `xdslc` (entry-point group xdsl_core.commands), but it could not be
loaded: the error says why. Other commands are not affected. Update or remove the package.

    [project.entry-points."xdsl_core.commands"]
    acme-trace = "acme_backend.trace:command"      # a function with typer's annotations, or a typer.Typer
""",
    ),
    "X0812": (
        "there is no such conformance case or profile",
        """
`--id` takes the id of a case, or a pattern with * in it; `--profile` the name of a profile. The manifest
lists all ids; the error suggests the nearest.

    xdslc conformance cpu_c --id "op/tile.add/*"
    xdslc conformance cpu_c --profile core --list
""",
    ),
    "X0813": (
        "the file is no report or no list of waivers",
        """
`xdslc report` reads the JSON that `xdslc conformance --json FILE` writes. A file of waivers is TOML, each
with the id of a case (or a pattern), the reason, and the day on which the excuse ends:

    [[waiver]]
    case = "op/tile.dot/f16.*"
    reason = "erratum 12: the matrix unit rounds twice"
    expires = 2030-01-01
""",
    ),
    "X0818": (
        "the arguments of the launch cannot be made",
        """
`xdslc sim` makes the arguments of a launch from text: `--arg` options, or the file's own table LAUNCHES. A
pointer gets an array of the given extents, a number its value, and `grid` the number of programs.

    xdslc sim add.py:add_kernel --arg "x=98432, y=98432, out=98432, n=98432" --arg "grid=cdiv(n, BLOCK)"

    LAUNCHES = {"add_kernel": "x=98432, y=98432, out=98432, n=98432, grid=cdiv(n, BLOCK)"}
""",
    ),
    "X0819": (
        "the backend's profile has no such view",
        """
A backend may give more views of a profile than the table: a trace, a timeline, a table of engines. The one
that was asked for is not among them; the error lists those there are.
""",
    ),
    "X0816": (
        "the backend makes no libraries",
        """
`xdslc build` writes a library that programs link to call a kernel without Python. That is for backends whose
kernels are machine code of a host; cpu_c makes such libraries:

    xdslc build matmul.py:matmul_kernel --backend cpu_c -o lib/
""",
    ),
    "X0817": (
        "the library cannot have this name",
        """
The name becomes a function of the library, and part of its files' names, so it has to be an identifier in C:
letters, digits and underscores of ASCII, no digit first, and no word of the language C. Without --name it is
the kernel's name.

    xdslc build FILE:KERNEL --name row_softmax -o lib/
""",
    ),
    "X0830": (
        "Stock Triton is imported already",
        """
`import triton` can be answered with this package's module tree only in a process that has not imported stock
Triton before; two packages of one name cannot be mixed.

    xdslc run --as-triton script.py        # right: nothing has been imported yet
""",
    ),
    "X0831": (
        "A module of Triton has no counterpart here",
        """
`import triton` is answered with the public modules: the language, the launch, autotune, testing. Parts of
stock Triton's compilers (`triton._C`, `triton.backends.nvidia`) are not among them: a script that needs them
needs stock Triton.
""",
    ),
    "X0832": (
        "A name of Triton has no counterpart here",
        """
The module is answered by this package, which has no such name. If the name is part of Triton's public
interface, this is a gap to report; if it is internal, the script needs stock Triton.
""",
    ),
    "X0841": (
        "a new backend cannot be called this",
        """
The name of a backend is also the name of its Python package and of its entry point: lower-case letters,
digits and single underscores, beginning with a letter; no backend and no Python package may have it already.

    xdslc backend new Acme-NPU          # did you mean 'acme_npu'?
    xdslc backend new numpy             # a Python package has this name
""",
    ),
    "X0842": (
        "the new backend would overwrite files",
        """
`xdslc backend new` only ever adds files. The folder holds a file that it would write, so nothing was written.

    xdslc backend new acme_npu --directory elsewhere
""",
    ),
    "X0820": (
        "the backend takes no targets from files",
        """
`--target-file FILE` describes a machine in TOML, for a backend that simulates or compiles for machines that
exist as data: it reads the files and folders in XDSL_TARGET_PATH. The backend that was asked for has a fixed
list of targets (`xdslc targets`).

    xdslc sim matmul.py:matmul_kernel --backend dsa_sim --target-file my_chip.toml
""",
    ),
    "X0850": (
        "the text is no TTIR",
        """
The frontend for Triton's IR text reads what Triton's own compiler writes: one module with one public
`tt.func` and the functions that it calls. The text is cut off, is another IR (TTGIR, LLVM), or holds several
kernels.

    kernel = my_kernel.warmup(x, n, BLOCK=256, grid=(1,))
    open("my_kernel.ttir", "w").write(kernel.asm["ttir"])
""",
    ),
    "X0851": (
        "an op of Triton's IR has no counterpart",
        """
The kernel reached this package through stock Triton's frontend and uses an op, a type or a function of the
device library that the tile IR does not have: inline assembly of one chip, for example.

    tl.inline_asm_elementwise("shl.b32 $0, $0, 3;", ...)     # x << 3 says the same on every chip
""",
    ),
    "X0852": (
        "unstructured control flow",
        """
The kernel's IR jumps back to a block that it came from, in another way than `scf.for` and `scf.while` do.
Triton writes branches between blocks only for a `return` inside of an `if`, which is understood here.

    while i < n: ...                                          # a loop in the kernel is always structure
""",
    ),
    "X0853": (
        "stock Triton is not usable",
        """
`xdslc run --triton`, `pytest -p xdsl_core.triton_plugin.pytest` and XDSL_TRITON=1 run programs through the
frontend of stock Triton, 3.6 or newer, which is not installed or is too old. `--as-triton` needs none.

    pip install 'xdsl-core[triton]'
""",
    ),
}
