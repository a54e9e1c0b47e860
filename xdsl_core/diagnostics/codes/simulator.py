"""Error codes of the family `simulator`: code -> (title, explanation).

X0901 to X0909 are about programs and targets before they run, X0911 to X0929 about what a simulated machine
did."""

CODES: dict[str, tuple[str, str]] = {
    "X0901": (
        "an instruction does not fit its definition",
        """
Each instruction of a simulated accelerator has one definition: its operands and of which kind they are (a
region of memory, a number or register, the name of an engine), its attributes, and whether its mnemonic
carries a dtype.

    V add.f32 UB[0] f32<64>, UB[256] f32<64>, 2.5     # destination, two operands
    V add UB[0] f32<64>, UB[256] f32<64>              # no dtype, an operand is missing

A compiler that makes such an instruction has a defect; an author of assembler text corrects the line.
""",
    ),
    "X0902": (
        "assembler text cannot be read",
        """
The text of a program for a simulated accelerator has a form that `xdslc compile --emit asm` shows:

    program add target toy
    param x ptr<f32>
    core core {
      for %p = %core to %programs step %cores {
        MTE2 copy UB[0] f32<64>, GM[%x] f32<64>
      }
    }

The error points at the first word that does not fit.
""",
    ),
    "X0903": (
        "a target's timing tables are wrong",
        """
The `[vendor]` tables of a target file of dsa_sim hold the parameters of the timing model (memory, matrix,
vector, scalar, sync, launch). A table or key that the model does not know, or a value of another kind, is a
mistake, because it would have no effect.

    [vendor.sync]
    cross_latency = { value = 250, source = "measured" }
""",
    ),
    "X0904": (
        "there is no such target",
        """
`dsa_sim:NAME` takes the name of a target that comes with the backend (`xdslc targets` lists them), or of one
in a TOML file of yours that the environment variable XDSL_TARGET_PATH names (files or folders).

    XDSL_TARGET_PATH=chips/ xdslc sim matmul.py:matmul_kernel --target dsa_sim:mychip
""",
    ),
    "X0905": (
        "a program does not fit the machine",
        """
An instruction asks for something that the target does not have: an engine that this kind of core lacks, a
memory space, a data path between two spaces, a matrix product of a dtype, or a flag beyond the target's
number.

    MTE2 copy L0A[0] f16<16, 16>, GM[%a] f16<16, 16>   # no path from global memory to L0A: through L1
""",
    ),
    "X0911": (
        "misaligned access",
        """
A memory space of an accelerator can only be addressed in multiples of its alignment. Hardware would drop the
low bits of the address, and read or write the wrong bytes.

    MTE2 copy UB[40] f32<64>, GM[%x] f32<64>   # UB has an alignment of 32 bytes
""",
    ),
    "X0912": (
        "race between engines",
        """
Two engines of a core use the same bytes of memory, at least one of them writes, and no flag orders them. On
hardware the result depends on timing. The simulator checks order and not time, so the error is certain even
if this run happened to give the right result.

    MTE2 copy UB[0] f32<64>, GM[%x] f32<64>
    V add.f32 UB[256] f32<64>, UB[0] f32<64>, 1.0     # reads what MTE2 may still be writing

    MTE2 set_flag V, 0                                # in between
    V wait_flag MTE2, 0
""",
    ),
    "X0913": (
        "read of memory that nothing wrote",
        """
On-chip memory holds leftovers when a kernel starts. An instruction reads bytes of it that no instruction has
written, for example the tail of a tile of which only the part inside the array was loaded. Fill the rest
(`copy ... {fill=0.0}`), or restrict the extents of what is read.
""",
    ),
    "X0914": (
        "deadlock",
        """
No engine can go on: each waits for a flag that is not set, for room in a queue, or for another core. The
error says for every engine that waits which flag it wants, which instruction would set it, and what that one
waits for. """,
    ),
    "X0915": (
        "flag overflow",
        """
A flag between two engines has a number below the target's limit, and can be set only so often before it is
waited for (once on most machines). Setting it again is lost on hardware, and a later wait would hang.

    MTE2 set_flag V, 0
    MTE2 set_flag V, 0      # the first one was not waited for

Use another flag number for every copy of a buffer, and wait before reuse.
""",
    ),
    "X0916": (
        "access outside global memory of the arguments",
        """
An instruction reads or writes global memory that belongs to none of the kernel's arguments (nor to its
scratch memory). The error names the argument that is nearest and how far outside the access lies. Usually a
mask, or the extents of a tail, are wrong. """,
    ),
    "X0917": (
        "a flag is left set",
        """
A flag was set and nobody waited for it before the kernel ended. On hardware the next kernel would find it
set, and run ahead of its data. Set and wait come in pairs. """,
    ),
    "X0918": (
        "region outside its memory space",
        """
A region of on-chip memory begins before or ends behind its space. Hardware would wrap around, and overwrite
another buffer. """,
    ),
    "X0919": (
        "the simulation was stopped",
        """
The kernel ran for more instructions or cycles than the launch allows. An endless loop of the kernel is the
usual reason; the limit is an option of the simulator. """,
    ),
}
