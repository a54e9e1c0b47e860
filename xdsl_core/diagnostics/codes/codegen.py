"""Error codes of the family `codegen`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0701": (
        "the C compiler refused what was generated",
        """
cpu_c turns a kernel into C and has a C compiler build it. The compiler did not accept that C. Whatever the
kernel says, this is a defect of cpu_c, not of the kernel; the note has the compiler and its first complaint.

Please report it, with the kernel and with what `xdslc compile FILE:KERNEL --emit c` prints.

Fix: until then, another C compiler may accept the text (XDSL_CC=clang), and the backend `reference` runs the
kernel without one.
""",
    ),
    "X0702": (
        "an argument does not fit the compiled kernel",
        """
The launcher of a compiled kernel refused an argument before anything ran. The error names the parameter and
what is wrong: its memory is not in the host, is read-only although the kernel writes to it, or does not start
at a multiple of the element's size; or a number is out of range.

    raw = numpy.zeros(65, numpy.uint8)
    kernel[grid](raw[1:].view(numpy.float32), 16)       # float32 at an odd address

Fix: pass a copy (x.copy()): it is aligned, in host memory, and may be written.
""",
    ),
    "X0703": (
        "the tiles of a program need too much memory",
        """
Tiles that are not used up where they are computed live in memory, once for each thread. This kernel's tiles
would need more than cpu_c provides for them; the error lists the largest.

    block = tl.zeros((32768, 32768), tl.float32)            # 4 GiB

Fix: let a program work on smaller tiles, usually by a smaller BLOCK, and launch more programs.
""",
    ),
    "X0704": (
        "this is not a number of threads",
        """
The programs of a launch on cpu_c are shared out among threads: as many as the option num_threads says, else
the environment variable XDSL_NUM_THREADS, else one for each core that the process may use.

    kernel[grid](x, n, BLOCK=128, num_threads=0)            # wrong
    XDSL_NUM_THREADS=all python program.py                  # wrong

Fix: give a whole number from 1 on, or leave it out.
""",
    ),
    "X0705": (
        "compiled code cannot be written or loaded",
        """
cpu_c keeps what it builds in the cache folder and loads it from there. The system did not allow that; the
error repeats its reason. Usual causes: the folder cannot be written, its disk is full, or it is mounted such
that nothing in it may be executed (noexec).

Fix: name a folder that can be used in XDSL_CACHE_DIR; `xdslc cache` shows the present one.
""",
    ),
    "X0731": (
        "Triton cannot express an op",
        """
gpu_triton writes a kernel as Triton code. Stock Triton has no operation for this op on these types, and none
can be made of others with the same results.

    y = tl.exp(x.to(tl.float32))        # Triton's math functions take f32 and f64

Fix: cast the operands to another dtype, or run the kernel on another backend.
""",
    ),
    "X0732": (
        "an op does not fit Triton's rules",
        """
gpu_triton brings what Triton does not take into a form that it takes: extents that are no powers of two are
padded, narrow dtypes are widened, small products are summed up. That is done only where the results stay the
same. Here it cannot be done; the error says why.

    i = tl.arange(0, 48)
    tl.atomic_cas(p + i, 0, 1)          # has no mask, so that 48 lanes cannot be padded to 64

Fix: as the error says; often another extent or a cast.
""",
    ),
    "X0733": (
        "Triton refused the generated code",
        """
gpu_triton turns a kernel into Triton code and has Triton compile it. Triton did not accept it for this
target; the note has its message and the file with the code.

Please report it, with the kernel and with what `xdslc compile FILE:KERNEL -b gpu_triton --emit triton`
prints.

Fix: until then, another target or the backend `reference` may run the kernel.
""",
    ),
    "X0734": (
        "the memory of an argument is not known",
        """
Triton's interpreter runs in a process of its own, so the memory behind an argument is copied there and back.
An object that has only an address does not say how much memory that is.

Fix: pass a numpy array or a tensor, or give the object the attribute `nbytes`.
""",
    ),
    "X0735": (
        "Triton's interpreter failed",
        """
The kernel ran in Triton's interpreter (target gpu_triton:interpret), which raised an exception. The error has
its message, the program, and the kernel's line if it is known.

Fix: run the kernel on the backend `reference`. If it fails there too, its message says more; if not, please
report it with the kernel.
""",
    ),
    "X0736": (
        "the process of Triton's interpreter ended or hangs",
        """
The kernel ran in Triton's interpreter (target gpu_triton:interpret), in a process of its own. That process
ended, most often because the kernel accesses memory outside its arguments, or it took longer than the launch
option timeout_seconds and was stopped. The next launch starts a new one.

    kernel.on("gpu_triton:interpret")[grid](x, n, timeout_seconds=3600.0)

Fix: run the kernel on the backend `reference`, which checks every access.
""",
    ),
    "X0737": (
        "a program needs more shared memory than the GPU has",
        """
Triton keeps operands of matrix products and what threads exchange in shared memory. The kernel needs more of
it than a program can have on this target.

    matmul_kernel[grid](..., BLOCK_M=256, BLOCK_K=128, num_stages=4)

Fix: use smaller blocks, or fewer num_stages.
""",
    ),
    "X0710": (
        "the tiles of a kernel do not fit into a memory of the target",
        """
Tiles live in memories of a fixed size, such as the vector unit's. The error lists the buffers that are alive
at the worst moment: name and shape, source line, bytes, copies (several where iterations overlap) and the
span of ops during which they are needed.

    a = tl.load(x + tl.arange(0, 65536))                    # 256 KiB of f32, where 192 KiB are there

Fix: let a program work on smaller tiles and launch more programs, or ask for fewer stages (num_stages=1).
""",
    ),
    "X0711": (
        "the target has no way to do this",
        """
The op means something, and no unit of the target can do it as it stands: a loop inside the combine function
of a reduction, for example.

Fix: follow the message's help, or run the kernel on another backend.
""",
    ),
    "X0712": (
        "a target description lacks what kernels need",
        """
A target needs a vector unit, and data paths that lead from global memory to every memory a kernel's tiles
have
to reach. The message names what is missing.

Fix: add the unit or the data path to the target's file.
""",
    ),
}
