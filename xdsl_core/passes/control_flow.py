"""Where values go in structured control flow, as data: passes ask this table and name no op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from xdsl_core.ir.core import Op, Value
from xdsl_core.ops.control import For, If, While
from xdsl_core.passes.definitions import name_of

YIELDED = "values"  # the operand slot in which terminators hand values over


@dataclass(frozen=True, slots=True)
class Target:
    """Arguments of a region, without the first `skip`; or the op's results, if `region` is empty."""

    region: str
    skip: int = 0


@dataclass(frozen=True, slots=True)
class Flow:
    """Values that travel together: value i of any source may become value i of every target.

    A source is an operand slot of the op, or a region, whose terminator hands its values over.
    """

    sources: tuple[str, ...]
    targets: tuple[Target, ...]


RESULTS = Target("")


@cache
def flows() -> Mapping[str, tuple[Flow, ...]]:
    """The flows of each control op, by its name."""
    return MappingProxyType(
        {
            name_of(For): (Flow(("inits", "body"), (Target("body", skip=1), RESULTS)),),
            name_of(While): (
                Flow(("inits", "after"), (Target("before"),)),
                Flow(("before",), (Target("after"), RESULTS)),
            ),
            name_of(If): (Flow(("then", "otherwise"), (RESULTS,)),),
        }
    )


def flows_of(op: Op) -> tuple[Flow, ...]:
    """The flows of an op; none for ops that are not in the table, whose values may go anywhere."""
    return flows().get(op.name, ())


def is_loop(op: Op) -> bool:
    """Whether a region of the op may run more than once: some region's values come back to a region."""
    return any(
        source in op.definition.region_names and target.region
        for flow in flows_of(op)
        for source in flow.sources
        for target in flow.targets
    )


def source_values(op: Op, source: str) -> tuple[Value, ...]:
    """The values that a source of a flow hands over."""
    if source not in op.definition.region_names:
        return op.group(source)
    terminator = op.region(source).block.terminator
    assert terminator is not None, f"{op.name}: region {source} has no terminator"
    return terminator.group(YIELDED)


def target_values(op: Op, target: Target) -> Sequence[Value]:
    """The values that a target of a flow receives."""
    if not target.region:
        return op.results
    return op.region(target.region).block.arguments[target.skip :]


def keep_source(op: Op, source: str, keep: Sequence[int]) -> None:
    """Make a source hand over only the values at the positions `keep`."""
    values = source_values(op, source)
    kept = [values[index] for index in keep]
    if source not in op.definition.region_names:
        op.set_group(source, kept)
        return
    terminator = op.region(source).block.terminator
    assert terminator is not None
    terminator.set_group(YIELDED, kept)


def keep_target(op: Op, target: Target, keep: Sequence[int]) -> None:
    """Make a target receive only the values at the positions `keep`; the others must be unused."""
    if not target.region:
        op.keep_results(keep)
        return
    leading = range(target.skip)
    op.region(target.region).block.keep_arguments([*leading, *(target.skip + index for index in keep)])
