"""Pipelines are values; running one times, verifies, dumps, reports and names the pass that fails."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from tests.unit.passes.helpers import function
from xdsl_core.diagnostics import CompilationError, catalogue, error
from xdsl_core.ir import Module, parse_module, print_module
from xdsl_core.ops import opset
from xdsl_core.passes import (
    Canonicalize,
    EliminateDeadCode,
    FoldConstants,
    Pass,
    PassEvent,
    Pipeline,
    canonical_pipeline,
    describe_pass,
    run_pipeline,
)

BODY = "%a = tile.add %x, %y : i32 %b = tile.add %x, %n : i32 memory.store %ip, %b"


@dataclass(frozen=True)
class Rename:
    """Gives the function another name, in a new module."""

    to: str = "g"
    name: ClassVar[str] = "rename"

    def run(self, module: Module) -> Module:
        clone = module.clone()
        function = clone.functions.pop("f")
        function.name = self.to
        clone.add(function)
        return clone


@dataclass(frozen=True)
class Crash:
    """Divides by zero."""

    name: ClassVar[str] = "crash"

    def run(self, module: Module) -> None:
        _ = 1 // (len(module.functions) - 1)


@dataclass(frozen=True)
class Refuse:
    """Cannot compile anything."""

    name: ClassVar[str] = "refuse"

    def run(self, module: Module) -> None:
        raise CompilationError(error("X0202", "this op cannot be compiled"))


@dataclass(frozen=True)
class Break:
    """Drops the terminator."""

    name: ClassVar[str] = "break"

    def run(self, module: Module) -> None:
        module.functions["f"].block.ops[-1].erase()


@dataclass(frozen=True)
class Mend:
    """Puts a terminator at the end."""

    name: ClassVar[str] = "mend"

    def run(self, module: Module) -> None:
        other = function("").functions["f"].block.ops.pop()
        module.functions["f"].block.append(other)


def test_passes_are_passes() -> None:
    for step in (*canonical_pipeline(), Rename(), FoldConstants()):
        assert isinstance(step, Pass)
        assert step.__doc__


def test_pipeline_is_edited_by_name() -> None:
    pipeline = Pipeline((FoldConstants(), EliminateDeadCode()))
    assert pipeline.names == ("fold_constants", "eliminate_dead_code")
    assert pipeline.insert_before("fold_constants", Rename()).names[0] == "rename"
    assert pipeline.insert_after("fold_constants", Rename()).names == (
        "fold_constants",
        "rename",
        "eliminate_dead_code",
    )
    assert pipeline.replace("fold_constants", Rename(), Crash()).names == (
        "rename",
        "crash",
        "eliminate_dead_code",
    )
    assert pipeline.without("fold_constants").names == ("eliminate_dead_code",)
    assert pipeline.until("fold_constants").names == ("fold_constants",)
    assert (pipeline + pipeline.append(Rename())).names[-1] == "rename"
    assert len(pipeline) == 2


def test_unknown_pass_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(CompilationError) as caught:
        canonical_pipeline().without("canonicalise")
    assert caught.value.code == "X0343"
    assert "did you mean canonicalize?" in str(caught.value)


def test_description_shows_changed_options() -> None:
    assert describe_pass(FoldConstants()) == "fold_constants"
    assert describe_pass(FoldConstants(largest=16)) == "fold_constants{largest=16}"
    assert str(Pipeline((Rename(), Rename(to="h")))) == "rename, rename{to=h}"


def test_run_changes_in_place_or_replaces() -> None:
    module = function(BODY)
    run = run_pipeline(module, Pipeline((EliminateDeadCode(), Rename())))
    assert list(run.module.functions) == ["g"]
    assert list(module.functions) == ["f"]
    assert "tile.add %x, %y" not in print_module(module)


def test_each_pass_is_timed() -> None:
    run = run_pipeline(function(BODY), canonical_pipeline())
    assert [timing.name for timing in run.timings] == list(canonical_pipeline().names)
    assert all(timing.seconds > 0 for timing in run.timings)
    assert run.seconds == pytest.approx(sum(timing.seconds for timing in run.timings))
    assert run.table().count("\n") == len(run.timings) + 1


def test_observers_see_each_pass() -> None:
    events: list[PassEvent] = []
    run_pipeline(function(BODY), Pipeline((FoldConstants(), Rename())), observers=[events.append])
    assert [(event.stage, event.name, event.index) for event in events] == [
        ("started", "fold_constants", 0),
        ("finished", "fold_constants", 0),
        ("started", "rename", 1),
        ("finished", "rename", 1),
    ]
    assert events[0].seconds == 0
    assert events[1].seconds > 0
    assert list(events[2].module.functions) == ["f"]
    assert list(events[3].module.functions) == ["g"]


def test_dumps_are_numbered_and_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dumps"
    run_pipeline(function(BODY), Pipeline((FoldConstants(), Rename())), dump_dir=folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "00-input.tile",
        "01-fold_constants.tile",
        "02-rename.tile",
    ]
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert texts["00-input.tile"] == print_module(function(BODY))
    assert list(parse_module(texts["02-rename.tile"], opset()).functions) == ["g"]


def test_exception_names_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDSL_DEBUG", raising=False)
    with pytest.raises(CompilationError) as caught:
        run_pipeline(function(BODY), Pipeline((Canonicalize(), Crash())))
    assert caught.value.code == "X0340"
    shown = str(caught.value)
    assert "pass crash failed: ZeroDivisionError" in shown
    assert "test_pass_manager.py" in shown
    assert "Traceback" not in shown
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    monkeypatch.setenv("XDSL_DEBUG", "1")
    with pytest.raises(CompilationError, match="pass crash failed") as caught:
        run_pipeline(function(BODY), Pipeline((Crash(),)))
    assert "Traceback" in str(caught.value)


def test_refusal_keeps_its_code_and_names_the_pass() -> None:
    with pytest.raises(CompilationError) as caught:
        run_pipeline(function(BODY), Pipeline((Refuse(),)))
    assert caught.value.code == "X0202"
    assert "in pass refuse" in str(caught.value)


def test_invalid_ir_is_found_at_the_end() -> None:
    with pytest.raises(CompilationError) as caught:
        run_pipeline(function(BODY), Pipeline((Break(),)))
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["X0342", "X0320"]
    assert run_pipeline(function(BODY), Pipeline((Break(), Mend()))).module
    assert run_pipeline(function(BODY), Pipeline((Break(),)), verify=False).module


def test_invalid_ir_is_found_after_each_pass() -> None:
    with pytest.raises(CompilationError) as caught:
        run_pipeline(function(BODY), Pipeline((Break(), Mend())), verify="each")
    assert "after pass break" in str(caught.value)
    broken = function(BODY)
    Break().run(broken)
    with pytest.raises(CompilationError, match="before the first pass"):
        run_pipeline(broken, Pipeline((Mend(),)), verify="each")


def test_codes_are_explained() -> None:
    used = {"X0340", "X0341", "X0342", "X0343"}
    assert used <= set(catalogue())
