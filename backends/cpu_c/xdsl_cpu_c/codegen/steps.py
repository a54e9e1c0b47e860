"""What a kernel's body is split into before it becomes C: scalar statements, loop nests, and what is
neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl_core.ir import Op, Value


@dataclass(slots=True)
class Closure:
    """What evaluating one root reads: inline values, buffers, scalars and deferred loads.

    Of buffers and loads it says whether they are read at the loop's own lanes alone: not so where a
    permutation lies in between.
    """

    inline: dict[Value, None] = field(default_factory=dict)
    buffers: dict[Value, bool] = field(default_factory=dict)
    scalars: dict[Value, None] = field(default_factory=dict)
    loads: dict[Op, bool] = field(default_factory=dict)

    def merge(self, other: Closure) -> None:
        self.inline.update(other.inline)
        self.scalars.update(other.scalars)
        for value, straight in other.buffers.items():
            self.add_buffer(value, straight)
        for load, straight in other.loads.items():
            self.add_load(load, straight)

    def add_buffer(self, value: Value, straight: bool) -> None:
        self.buffers[value] = straight and self.buffers.get(value, True)

    def add_load(self, load: Op, straight: bool) -> None:
        self.loads[load] = straight and self.loads.get(load, True)


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
