"""From when to when buffers are needed, counted in statements of a core's code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from xdsl_core.ir import Function, Op
from xdsl_core.passes.memory.liveness import lifetimes, number_ops
from xdsl_dsa_sim.isa import Statement, walk


def statement_lifetimes(
    function: Function, emitted: Mapping[Op, Sequence[Statement]], code: tuple[Statement, ...]
) -> dict[Op, tuple[int, int]]:
    """The first and last statement of `code` that the life of each allocation reaches to.

    `emitted` are the statements of each op, without those of the ops inside.
    """
    numbers = {id(statement): number for number, statement in enumerate(walk(code))}
    spans = number_ops(function)
    positions = 1 + max((last for _, last in spans.values()), default=0)
    first, last = [0] * positions, [0] * positions
    for op, (start, _) in spans.items():
        found = [numbers[id(statement)] for statement in emitted.get(op, ())]
        if found:
            first[start], last[start] = min(found), max(found)
    last = list(accumulate(last, max))
    return {
        lifetime.op: (min(first[lifetime.first], last[lifetime.last]), last[lifetime.last])
        for lifetime in lifetimes(function)
    }
