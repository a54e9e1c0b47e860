"""What a kernel's body is split into before it becomes C: scalar statements, loop nests, and what is
neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl_core.ir import Op, Value


@dataclass(slots=True)
class Closure:
    """What evaluating one root reads: inline values, buffers, scalars and deferred loads."""

    inline: dict[Value, None] = field(default_factory=dict)
    buffers: dict[Value, None] = field(default_factory=dict)
    scalars: dict[Value, None] = field(default_factory=dict)
    loads: dict[Op, None] = field(default_factory=dict)

    def merge(self, other: Closure) -> None:
        self.inline.update(other.inline)
        self.buffers.update(other.buffers)
        self.scalars.update(other.scalars)
        self.loads.update(other.loads)


@dataclass(frozen=True, slots=True)
class Root:
    """A reason to run a loop: a store, a reduction, or a value that needs a buffer (`op` is then its defining
    op).
    """

    kind: str
    op: Op
    position: int


@dataclass(slots=True)
class Nest:
    """Loops over `shape` that evaluate several roots lane by lane."""

    shape: tuple[int, ...]
    roots: list[Root] = field(default_factory=list)
    closure: Closure = field(default_factory=Closure)

    @property
    def stores(self) -> list[Op]:
        return [root.op for root in self.roots if root.kind == "store"]


@dataclass(slots=True)
class ScalarStep:
    """An op on scalars alone: one C statement."""

    op: Op


@dataclass(slots=True)
class BufferStep:
    """An op on whole tiles in buffers: dot, scan, reshape, atomics, prints, general reductions."""

    op: Op
    closure: Closure


@dataclass(slots=True)
class ControlStep:
    """A loop or a branch with the plans of its regions."""

    op: Op
    regions: tuple[BlockPlan, ...]
    closure: Closure


Step = Nest | ScalarStep | BufferStep | ControlStep


@dataclass(slots=True)
class BlockPlan:
    """Steps in order; `last_use` gives the last step that reads a value's buffer."""

    steps: list[Step] = field(default_factory=list)
    yielded: tuple[Value, ...] = ()
    last_use: dict[Value, int] = field(default_factory=dict)
