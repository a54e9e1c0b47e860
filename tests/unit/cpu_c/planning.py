"""The plan of a kernel given as text, in words, and the kernel run beside the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.unit.cpu_c.kernels import Workshop, source_of
from tests.unit.language.running import build, function_from
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.interp import run
from xdsl_core.ir import Module, Value
from xdsl_core.passes import run_pipeline
from xdsl_cpu_c.codegen.memory_order import MemoryOrder
from xdsl_cpu_c.codegen.plan import Planner
from xdsl_cpu_c.codegen.steps import BlockPlan, BufferStep, ControlStep, Nest
from xdsl_cpu_c.pipeline import cpu_pipeline


def module_of(body: str, parameters: str, arguments: Sequence[Any]) -> Module:
    text = f"def kernel({parameters}):\n" + "\n".join(f"    {line}" for line in body.strip().splitlines())
    return build(function_from(text), *arguments)


def plan_of(module: Module, *, distinct: bool = True) -> tuple[BlockPlan, Planner]:
    (function,) = run_pipeline(module.clone(), cpu_pipeline()).module.functions.values()
    planner = Planner(MemoryOrder(IndexAnalysis(), distinct=distinct))
    return planner.plan(function), planner


def described(plan: BlockPlan) -> list[Any]:
    """Steps other than scalar ones: a nest as its roots, a control step as the plans of its regions."""
    found: list[Any] = []
    for step in plan.steps:
        if isinstance(step, Nest):
            found.append(" ".join(_root(root.kind, root.op.results) for root in step.roots))
        elif isinstance(step, BufferStep):
            found.append(step.op.name.partition(".")[2])
        elif isinstance(step, ControlStep):
            found.append([described(region) for region in step.regions])
    return found


def _root(kind: str, results: Sequence[Value]) -> str:
    names = [value.name for value in results if value.name]
    return f"{kind}:{names[0]}" if names else kind


def buffered(planner: Planner) -> set[str]:
    """Names of the inline values that get a buffer."""
    return {value.name or value.defining_op.name for value in planner.materialised}  # type: ignore[union-attr]


class Checked:
    """Runs kernels on cpu_c in all variants beside the interpreter, and plans them."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop

    def __call__(
        self,
        body: str,
        parameters: str,
        make: Callable[[], Sequence[Any]],
        *,
        distinct: bool = True,
        grid: tuple[int, int, int] = (1, 1, 1),
    ) -> tuple[list[Any], set[str], str]:
        """(plan in words, buffered values, C); with `distinct` False the arguments may overlap."""
        module = module_of(body, parameters, make())
        expected = list(make())
        run(module, grid, expected)
        source = source_of(module)
        launchers = self.workshop.launchers([source])[0]
        for launch in launchers if distinct else launchers[-1:]:
            got = list(make())
            launch(grid, tuple(got))
            for found, wanted in zip(got, expected, strict=True):
                if isinstance(wanted, np.ndarray):
                    np.testing.assert_array_equal(found, wanted)
        plan, planner = plan_of(module, distinct=distinct)
        return described(plan), buffered(planner), source.text
