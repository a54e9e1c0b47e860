"""The contract checks find each kind of mistake, and none in a backend that keeps the contract."""

from __future__ import annotations

import datetime
import os
import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.unit.backend.fakes import empty_registry
from tests.unit.runtime.fakes import ClosureBackend, memory
from xdsl_core import dtypes
from xdsl_core.backend import (
    API_VERSION,
    Artifact,
    Available,
    BackendInfo,
    ConformanceConfig,
    Options,
    Source,
    Unavailable,
    Waiver,
    hookimpl,
)
from xdsl_core.backend.testing import check_backend
from xdsl_core.target import Capabilities, Claim, Denial, MemorySpace, TargetDescription

SOURCES = {"": "invented"}


class Good(ClosureBackend):
    """Stores 1 to its first argument, which is all that the probe does."""

    def __init__(self) -> None:
        super().__init__("good", body=self.store)

    def store(self, grid: Any, values: Any, constants: Any) -> None:
        memory(values[0], 1, dtypes.i1.numpy)[0] = 1

    @hookimpl
    def xdsl_backend_info(self) -> BackendInfo:
        return BackendInfo("good", "1", API_VERSION, "keeps the contract")

    @hookimpl
    def xdsl_targets(self) -> tuple[TargetDescription, ...]:
        return (TargetDescription("good", "one", sources=SOURCES),)

    @hookimpl
    def xdsl_codegen(self, module: Any) -> Source:
        return Source("closure", "probe")


class SlowInfo(Good):
    @hookimpl
    def xdsl_backend_info(self) -> BackendInfo:
        time.sleep(0.06)
        return BackendInfo("good", "1", API_VERSION, "slow")


class ChangingInfo(Good):
    calls = 0

    @hookimpl
    def xdsl_backend_info(self) -> BackendInfo:
        self.calls += 1
        return BackendInfo("good", str(self.calls), API_VERSION, "changes")


class RaisingAvailability(Good):
    @hookimpl
    def xdsl_availability(self) -> Available:
        raise OSError("no driver")


class NoFix(Good):
    @hookimpl
    def xdsl_availability(self) -> Unavailable:
        return Unavailable("broken", "")


class BadTarget(Good):
    @hookimpl
    def xdsl_targets(self) -> tuple[TargetDescription, ...]:
        return (TargetDescription("good", "a:b", memory_spaces=(MemorySpace("M", "GLOBAL", 0),)),)


class UnknownOp(Good):
    @hookimpl
    def xdsl_capabilities(self) -> Capabilities:
        return super().xdsl_capabilities().extended(Claim("tile.dott", frozenset({"f33"})))


class ClaimsNothing(Good):
    @hookimpl
    def xdsl_capabilities(self) -> Capabilities:
        return Capabilities()


class NotDeterministic(Good):
    calls = 0

    @hookimpl
    def xdsl_codegen(self, module: Any) -> Source:
        self.calls += 1
        return Source("closure", f"probe {self.calls}")


class DoesNothing(Good):
    def store(self, grid: Any, values: Any, constants: Any) -> None: ...


class SilentWaiver(Good):
    @hookimpl
    def xdsl_conformance(self) -> ConformanceConfig:
        return ConformanceConfig((Waiver("tile.dot/*", "", datetime.date(2030, 1, 1)),))


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongDefault(Options):
    depth: int = "deep"  # type: ignore[assignment]  # the mistake


class BadOptions(Good):
    @hookimpl
    def xdsl_backend_info(self) -> BackendInfo:
        return BackendInfo("good", "1", API_VERSION, "keeps the contract", options=WrongDefault)


class ChangingClaims(Good):
    calls = 0

    @hookimpl
    def xdsl_capabilities(self) -> Capabilities:
        self.calls += 1
        return super().xdsl_capabilities().extended(Claim("tile.dot", frozenset({f"i{8 << self.calls % 2}"})))


class FallsOver(Good):
    @hookimpl
    def xdsl_capabilities(self) -> Capabilities:
        return super().xdsl_capabilities().extended(Denial("tile.exp", "no exponential"))

    @hookimpl
    def xdsl_codegen(self, module: Any) -> Source:
        return Source("closure", {"control.return": "probe"}[next(module.walk()).name])


class BadTemplate(Good):
    @hookimpl
    def xdsl_templates(self) -> dict[str, str]:
        return {"kernel.c.j2": "void f() {\n{% for %}\n}"}


class ChangingArtifact(Good):
    @hookimpl
    def xdsl_compile(self, source: Source) -> Artifact:
        return Artifact({"kernel.txt": os.urandom(8)}, source.metadata)


def problems_of(plugin: Good) -> list[str]:
    return [str(problem) for problem in check_backend(empty_registry().register(plugin))]


def test_good_backend_has_no_problems() -> None:
    assert problems_of(Good()) == []


@pytest.mark.parametrize(
    ("plugin", "hook", "words"),
    [
        (SlowInfo(), "xdsl_backend_info", "it has to be cheap"),
        (ChangingInfo(), "xdsl_backend_info", "two calls gave"),
        (RaisingAvailability(), "xdsl_availability", "raised OSError: no driver"),
        (NoFix(), "xdsl_availability", "needs a reason and a fix"),
        (BadTarget(), "xdsl_targets", "M.capacity is 0"),
        (BadTarget(), "xdsl_targets", "cannot be written as backend:name"),
        (BadTarget(), "xdsl_targets", "no number says where it comes from"),
        (UnknownOp(), "xdsl_capabilities", "there is no op tile.dott"),
        (UnknownOp(), "xdsl_capabilities", "there is no dtype f33"),
        (ClaimsNothing(), "xdsl_capabilities", "nothing is claimed"),
        (ClaimsNothing(), "xdsl_launch", "it claims no dtype"),
        (NotDeterministic(), "xdsl_launch", "two texts for one module"),
        (DoesNothing(), "xdsl_launch", "left False behind when run by xdsl_launch"),
        (DoesNothing(), "xdsl_launch", "left False behind when run by Executable.direct"),
        (BadOptions(), "xdsl_backend_info", "the default of the option depth: option 'depth' of backend"),
        (ChangingClaims(), "xdsl_capabilities", "two calls gave different claims"),
        (FallsOver(), "xdsl_capabilities", "raise CompilationError with what"),
        (BadTemplate(), "xdsl_templates", "good:one: kernel.c.j2, line 2:"),
        (ChangingArtifact(), "xdsl_launch", "two artifacts of one source"),
        (SilentWaiver(), "xdsl_conformance", "has no reason"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Good) else None,
)
def test_mistake_is_found(plugin: Good, hook: str, words: str) -> None:
    assert any(text.startswith(hook) and words in text for text in problems_of(plugin)), problems_of(plugin)
