"""From C text to a shared object."""

from __future__ import annotations

from pathlib import Path

from xdsl_core.backend import Artifact, Source
from xdsl_core.backend.toolchain import CompileFailure, Compiler, compile_shared
from xdsl_core.diagnostics import CompilationError, Diagnostic, error

KERNEL = "kernel.so"
OVERLAPPING = "overlapping.c"


def build(source: Source, workdir: Path, compiler: Compiler) -> Artifact:
    """The kernel as an artifact: a shared object, its text, and the text of the variant for overlapping
    arguments.

    Raises CompilationError X0701 where the C compiler refuses what was generated.
    """
    output = compile_text(source.text, workdir / KERNEL, compiler)
    files: dict[str, bytes | Path] = {KERNEL: output, "kernel.c": source.text.encode()}
    if OVERLAPPING in source.files:
        files[OVERLAPPING] = source.files[OVERLAPPING].encode()
    return Artifact(files, source.metadata)


def compile_text(text: str, output: Path, compiler: Compiler) -> Path:
    """Compile one C file; CompilationError X0701 names the compiler, its first complaint and the text
    kept.
    """
    try:
        return compile_shared(text, output, compiler=compiler, extra=("-lm",))
    except CompileFailure as failure:
        raise CompilationError(refused(failure, compiler, "the generated code")) from failure


def refused(failure: CompileFailure, compiler: Compiler, what: str) -> Diagnostic:
    """The diagnostic X0701 for C that the compiler refused: its first complaint, and where the text is."""
    lines = failure.stderr.splitlines()
    complaint = next((line for line in lines if "error" in line), next(iter(lines), "it gave no message"))
    return error(
        "X0701",
        f"the C compiler refused {what}",
        note=f"{compiler.version}: {complaint.strip()[:300]}",
        help="this is a defect of cpu_c: please report it with the kernel; another compiler "
        "(XDSL_CC=clang) may do meanwhile",
    )
