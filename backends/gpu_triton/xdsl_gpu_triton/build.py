"""From Triton code to an artifact: the code alone for the interpreter, else all that Triton makes of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xdsl_core.backend import Artifact, Source
from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.diagnostics import CompilationError, Location, error
from xdsl_core.target import TargetDescription
from xdsl_gpu_triton.generated import FOLDER, generated_file, import_file
from xdsl_gpu_triton.options import TritonOptions

SOURCE = "kernel.py"
# What Triton calls its stages and the file endings they get here.
_STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco")
_SIZES = MappingProxyType({"shared": "shared", "num_warps": "num_warps", "num_ctas": "num_ctas"})


def build(source: Source, target: TargetDescription, options: TritonOptions) -> Artifact:
    """The kernel as an artifact: its code, and for a GPU the text of each stage and the machine code.

    Raises CompilationError X0733 for what Triton refuses and X0734 where the target's memory is exceeded.
    """
    files: dict[str, bytes | Path] = {SOURCE: source.text.encode()}
    if not target.vendor:
        return Artifact(files, source.metadata)
    compiled = compile_for(source.text, source.metadata, target, options)
    for stage in _STAGES:
        content = compiled.asm.get(stage)
        if content is not None:
            files[f"kernel.{stage}"] = content if isinstance(content, bytes) else str(content).encode()
    sizes = {name: getattr(compiled.metadata, field) for name, field in _SIZES.items()}
    _check_capacity(sizes["shared"], source, target)
    return Artifact(files, {**source.metadata, **sizes})


def compile_for(
    text: str, facts: Mapping[str, Any], target: TargetDescription, options: TritonOptions
) -> Any:
    """Triton's compiled kernel for a target, whether its hardware is there or not."""
    with compiling():
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource

        path = generated_file(text)
        function = getattr(import_file(path), facts["name"])
        signature = {name: kind for name, kind, _ in _named(function, facts)}
        hints = {
            (index,): [["tt.divisibility", 16]]
            for index, (_, _, divisible) in enumerate(facts["parameters"])
            if divisible
        }
        vendor = target.vendor
        machine = GPUTarget(vendor["backend"], vendor["arch"], target.limits["warp_size"])
        try:
            return triton.compile(
                ASTSource(function, signature, {}, hints),
                target=machine,
                options=options.of_launch(vendor["backend"]),
            )
        except Exception as problem:
            raise _refused(problem, path, facts, target) from problem


def _named(function: Any, facts: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    for name, (_, kind, divisible) in zip(function.arg_names, facts["parameters"], strict=True):
        yield name, kind, divisible


@contextmanager
def compiling() -> Iterator[None]:
    """Has Triton compile, into this package's cache unless the user names another folder."""
    import triton

    knobs = triton.knobs
    with knobs.runtime.scope(), knobs.cache.scope(), knobs.compilation.scope():
        knobs.runtime.interpret = False
        if "TRITON_CACHE_DIR" not in os.environ:
            knobs.cache.dir = str(cache_folder() / FOLDER / "triton")
        yield


def _refused(
    problem: Exception, path: Path, facts: Mapping[str, Any], target: TargetDescription
) -> CompilationError:
    line = _line_of(problem, path, facts["name"])
    place = facts["lines"].get(str(line))
    location = {} if place is None else {"location": Location(*place)}
    text = str(getattr(problem, "error_message", None) or problem).strip().splitlines() or [""]
    return CompilationError(
        error(
            "X0733",
            f"Triton refused the generated code for {target.name}: {type(problem).__name__}",
            note=f"{text[-1]} (line {line} of {path})" if line else f"{text[-1]} ({path})",
            help="report it with the kernel; other targets and backends may take it",
            **location,  # type: ignore[arg-type]
        )
    )


def _line_of(problem: BaseException, path: Path, name: str) -> int:
    """The line of the generated file that Triton complains about, 0 if it does not say."""
    node = getattr(problem, "node", None)
    if node is None or not getattr(node, "lineno", 0):
        return 0
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(f"def {name}(")), None)
    return 0 if start is None else start + int(node.lineno)


def _check_capacity(shared: int, source: Source, target: TargetDescription) -> None:
    most = target.limits["max_shared_bytes"]
    if shared > most:
        raise CompilationError(
            error(
                "X0737",
                f"{source.metadata['name']} needs {shared} bytes of shared memory, "
                f"{target.name} has {most} for a program",
                help="use smaller blocks, or fewer num_stages",
            )
        )
