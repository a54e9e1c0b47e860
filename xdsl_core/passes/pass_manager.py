"""Runs a pipeline on a module: timing, verification, dumps, observers, and failures that name the pass."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Literal, TypeAlias

from xdsl_core.diagnostics import CompilationError, Diagnostic, XdslError, error, is_debugging
from xdsl_core.ir.core import Module
from xdsl_core.ir.printer import print_module
from xdsl_core.ir.verifier import verify as verify_module
from xdsl_core.passes.pipeline import Pass, Pipeline, describe_pass

Verify: TypeAlias = bool | Literal["each"]


@dataclass(frozen=True, slots=True)
class PassTiming:
    """How long one pass took, in seconds, without verification and dumps."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class PassEvent:
    """What an observer is told: a pass is about to run, or has run and took `seconds`."""

    stage: Literal["started", "finished"]
    name: str
    index: int
    module: Module
    seconds: float = 0.0


Observer: TypeAlias = Callable[[PassEvent], None]


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """The module that came out, and how long each pass took."""

    module: Module
    timings: tuple[PassTiming, ...]

    @property
    def seconds(self) -> float:
        """All passes together."""
        return sum(timing.seconds for timing in self.timings)

    def table(self) -> str:
        """One line a pass: milliseconds, share, name."""
        total = self.seconds or 1.0
        lines = [f"{'ms':>9}  {'%':>5}  pass"]
        for timing in self.timings:
            share = 100.0 * timing.seconds / total
            lines.append(f"{1e3 * timing.seconds:9.3f}  {share:5.1f}  {timing.name}")
        return "\n".join([*lines, f"{1e3 * self.seconds:9.3f}  100.0  total"])


def run_pipeline(
    module: Module,
    pipeline: Pipeline,
    *,
    dump_dir: Path | str | None = None,
    verify: Verify = True,
    observers: Sequence[Observer] = (),
) -> PipelineRun:
    """Run every pass of a pipeline on a module, in order.

    `verify` checks the module at the end, with "each" before the first and after every pass. `dump_dir`
    receives the text of the module before the first pass (00-input.tile) and after each one (01-NAME.tile,
    ...). Observers are called before and after each pass; they must not change the module. Raises
    CompilationError: a pass's own one with a note that names the pass, X0340 for any other exception of a
    pass, X0342 (with the verifier's diagnostics) for invalid IR.
    """
    timings: list[PassTiming] = []
    folder = _open_folder(dump_dir)
    _dump(folder, 0, "input", module)
    if verify == "each":
        _check(module, "before the first pass")
    for index, step in enumerate(pipeline.passes):
        for observer in observers:
            observer(PassEvent("started", step.name, index, module))
        start = perf_counter()
        module = _run_pass(step, module)
        seconds = perf_counter() - start
        timings.append(PassTiming(step.name, seconds))
        for observer in observers:
            observer(PassEvent("finished", step.name, index, module, seconds))
        _dump(folder, index + 1, step.name, module)
        if verify == "each":
            _check(module, f"after pass {describe_pass(step)}")
    if verify is True and pipeline.passes:
        _check(module, f"after the passes {', '.join(pipeline.names)}")
    return PipelineRun(module, tuple(timings))


def _run_pass(step: Pass, module: Module) -> Module:
    try:
        replacement = step.run(module)
        return module if replacement is None else replacement
    except XdslError as problem:
        noted = [item.with_note("note", f"in pass {describe_pass(step)}") for item in problem.diagnostics]
        raise type(problem)(noted) from problem.__cause__
    except Exception as problem:
        raise CompilationError(_defect(step, problem)) from problem


def _defect(step: Pass, problem: Exception) -> Diagnostic:
    """The diagnostic for an exception that is none: the pass, the exception and where it was raised."""
    message = f"pass {step.name} failed: {type(problem).__name__}: {problem}"
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    note = f"raised in {Path(frame.filename).name}:{frame.lineno} ({frame.name})"
    if is_debugging():
        note = "".join(traceback.format_exception(problem)).rstrip()
    help = "this is a defect of the pass; run with --dump-ir DIR to get the IR it was given, and report both"
    return error("X0340", message, note=note, help=help)


def _check(module: Module, when: str) -> None:
    found = verify_module(module)
    if found:
        head = error(
            "X0342",
            f"the IR is not valid {when}",
            note=f"the verifier found {len(found)} mistake{'' if len(found) == 1 else 's'}, see below",
            help="run with --dump-ir DIR to see the IR before and after each pass",
        )
        raise CompilationError([head, *found])


def _open_folder(dump_dir: Path | str | None) -> Path | None:
    if dump_dir is None:
        return None
    folder = Path(dump_dir)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _dump(folder: Path | None, number: int, name: str, module: Module) -> None:
    if folder is not None:
        (folder / f"{number:02}-{name}.tile").write_text(print_module(module), encoding="utf-8")
