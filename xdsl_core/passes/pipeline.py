"""Pass: one step from IR to IR. Pipeline: the passes of a compilation in order, as a value."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.ir.core import Module


@runtime_checkable
class Pass(Protocol):
    """One step of a compilation: a frozen dataclass with a name, its fields being the options.

    The docstring shows IR before -> after. `run` changes the module in place and returns None, or returns
    another module. It raises CompilationError for what it cannot compile; any other exception is its defect.
    """

    @property
    def name(self) -> str: ...

    def run(self, module: Module) -> Module | None: ...


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Passes in the order in which they run. Methods return changed copies; str() is one line for people."""

    passes: tuple[Pass, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(step.name for step in self.passes)

    def __iter__(self) -> Iterator[Pass]:
        return iter(self.passes)

    def __len__(self) -> int:
        return len(self.passes)

    def __add__(self, other: Pipeline) -> Pipeline:
        return Pipeline(self.passes + other.passes)

    def append(self, *passes: Pass) -> Pipeline:
        """With passes at the end."""
        return Pipeline((*self.passes, *passes))

    def insert_before(self, name: str, *passes: Pass) -> Pipeline:
        """With passes before the first one called `name`; CompilationError X0343 if there is none."""
        index = self._find(name)
        return Pipeline((*self.passes[:index], *passes, *self.passes[index:]))

    def insert_after(self, name: str, *passes: Pass) -> Pipeline:
        """With passes after the last one called `name`; CompilationError X0343 if there is none."""
        index = self._find(name, last=True) + 1
        return Pipeline((*self.passes[:index], *passes, *self.passes[index:]))

    def replace(self, name: str, *passes: Pass) -> Pipeline:
        """With passes in place of each one called `name`; CompilationError X0343 if there is none."""
        self._find(name)
        kept = [(step,) if step.name != name else passes for step in self.passes]
        return Pipeline(tuple(step for group in kept for step in group))

    def without(self, name: str) -> Pipeline:
        """Without the passes called `name`; CompilationError X0343 if there is none."""
        return self.replace(name)

    def until(self, name: str) -> Pipeline:
        """The passes up to and with the last one called `name`; CompilationError X0343 if there is none."""
        return Pipeline(self.passes[: self._find(name, last=True) + 1])

    def _find(self, name: str, *, last: bool = False) -> int:
        places = [index for index, step in enumerate(self.passes) if step.name == name]
        if not places:
            near = difflib.get_close_matches(name, self.names, n=1)
            known = ", ".join(self.names) or "none"
            help = f"did you mean {near[0]}?" if near else f"the passes are: {known}"
            raise CompilationError(error("X0343", f"the pipeline has no pass {name}", help=help))
        return places[-1 if last else 0]

    def __str__(self) -> str:
        return ", ".join(map(describe_pass, self.passes))


def describe_pass(step: Pass) -> str:
    """`name` or `name{option=value}`, with the options that differ from their default."""
    changed = []
    for option, field in getattr(step, "__dataclass_fields__", {}).items():
        value = getattr(step, option)
        if option != "name" and field.repr and value != field.default:
            changed.append(f"{option}={value}")
    return f"{step.name}{{{', '.join(changed)}}}" if changed else step.name
