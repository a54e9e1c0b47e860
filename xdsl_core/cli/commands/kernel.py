"""`xdslc ir`, `xdslc compile` and `xdslc explain-access`: what becomes of a kernel."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from xdsl_core.cli.console import console, print_text
from xdsl_core.cli.kernels import choose
from xdsl_core.cli.stages import Destination, build, destination, generate, lower, options_from
from xdsl_core.cli.target_file import TargetFile, with_target_file
from xdsl_core.diagnostics import CompilationError, error

Place = Annotated[
    str, typer.Argument(metavar="FILE:KERNEL", help="The kernel; its name if FILE has several.")
]
Signature = Annotated[
    str | None,
    typer.Option("--signature", "-s", help='Types of the arguments: "x: *f32, n: i32, BLOCK=1024".'),
]
Backend = Annotated[
    str, typer.Option("--backend", "-b", help="backend:target; the default is XDSL_BACKEND's.")
]
Option = Annotated[list[str] | None, typer.Option("--option", "-o", help="A launch option, name=value.")]


def ir(
    place: Place,
    signature: Signature = None,
    backend: Backend = "",
    target_file: TargetFile = None,
    option: Option = None,
    stage: Annotated[str, typer.Option(help="Only this stage: frontend, or a pass's name.")] = "",
    mlir: Annotated[bool, typer.Option("--mlir", help="Print MLIR's generic form.")] = False,
    locations: Annotated[bool, typer.Option("--locations", help="Print where each op comes from.")] = False,
    dump_ir: Annotated[Path | None, typer.Option(help="Write every stage to a file in this folder.")] = None,
    timing: Annotated[bool, typer.Option("--timing", help="Print how long each pass took.")] = False,
) -> None:
    """Print the tile IR of a kernel after the frontend and after every pass of the backend."""
    from xdsl_core.ir.mlir import print_mlir
    from xdsl_core.ir.printer import print_module

    where = destination(with_target_file(backend, target_file), options_from(option or []))
    printer = print_mlir if mlir else print_module
    lowered = lower(
        build(choose(place, signature), where),
        where,
        text=lambda module: printer(module, locations=locations),
        dump=dump_ir,
    )
    names = [name for name, _ in lowered.stages]
    if stage and stage not in names:
        hint = f"the stages are {', '.join(names)}"
        raise CompilationError(error("X0808", f"there is no stage {stage!r}", help=hint))
    for name, text in lowered.stages:
        if not stage:
            print_text(f"// ---- {name}", "tile")
        if stage in ("", name):
            print_text(text, "mlir" if mlir else "tile")
    if timing:
        typer.echo(lowered.run.table(), err=True)


def compile(
    place: Place,
    emit: Annotated[
        str, typer.Option(help="tile, the backend's source (c, ...) or a file's ending (so, ...).")
    ],
    signature: Signature = None,
    backend: Backend = "",
    target_file: TargetFile = None,
    target: Annotated[
        str, typer.Option("--target", help="A target of the backend, as after the colon.")
    ] = "",
    option: Option = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="The file to write; text goes to the terminal.")
    ] = None,
) -> None:
    """Write what a kernel becomes: tile IR, the backend's source, or a compiled file."""
    from xdsl_core.ir.printer import print_module

    named = f"{backend}:{target}" if target else backend
    where = destination(with_target_file(named, target_file), options_from(option or []))
    chosen = choose(place, signature)
    module = build(chosen, where)
    if emit == "tile":
        _write_text(print_module(module), emit, output)
        return
    source = generate(lower(module, where, text=lambda _: "").run.module, where)
    if emit == source.language:
        _write_text(source.text, emit, output)
        return
    name = f"{chosen.kernel.name}.{emit}"
    _write_artifact(source, where, emit, output or Path(name))


def _write_text(text: str, language: str, output: Path | None) -> None:
    if output is None:
        print_text(text, language)
    else:
        output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")


def _write_artifact(source: Any, where: Destination, emit: str, output: Path) -> None:
    """Compiles the source and copies the one file of the artifact that has the ending `emit`."""
    where.backend.require_available()
    with tempfile.TemporaryDirectory(prefix="xdslc-") as folder:
        artifact = where.backend.compile(source, where.target, where.options, Path(folder))
        endings: Mapping[str, str] = {name.rpartition(".")[2]: name for name in artifact.files}
        if emit not in endings:
            has = ", ".join(dict.fromkeys(("tile", source.language, *endings)))
            raise CompilationError(
                error("X0807", f"backend {where.backend.name} does not emit {emit!r}", help=f"it emits {has}")
            )
        output.write_bytes(artifact.read(endings[emit]))
    typer.echo(f"wrote {output}", err=True)


def explain_access(
    place: Place,
    signature: Signature = None,
    backend: Backend = "",
    target_file: TargetFile = None,
    option: Option = None,
) -> None:
    """Say for each load and store of a kernel whether it is base + strides + bounds, and if not, why."""
    from xdsl_core.cli.accesses import explain_accesses

    where = destination(with_target_file(backend, target_file), options_from(option or []))
    module = build(choose(place, signature), where)
    # a pipeline may lower accesses to other ops; then the analysis is shown as the frontend's ops allow it
    before = list(explain_accesses(module.clone()))
    lowered = lower(module, where, text=lambda _: "").run.module
    findings = list(explain_accesses(lowered)) or before
    for finding in findings:
        mark = "[green]structured[/]" if finding.structured else "[yellow]irregular[/]"
        console().print(f"{finding.op.location}: {mark}", highlight=False)
        console().print(f"    {finding.source}", markup=False, highlight=False)
        for detail in finding.details:
            console().print(f"    {detail}", markup=False, highlight=False)
    count = sum(not finding.structured for finding in findings)
    console().print(f"\n{len(findings)} accesses, {count} irregular", highlight=False)
