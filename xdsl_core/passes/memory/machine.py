"""What the passes ask of a target description: which unit computes what, and the ways between spaces."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import ComputeUnit, DataPath, MemorySpace, TargetDescription

LOCAL = "local"


@dataclass(frozen=True)
class Machine:
    """A target as the lowering sees it. Kinds of cores are always named, also where there is only one."""

    target: TargetDescription

    @cached_property
    def global_space(self) -> str:
        """The name of the memory that every core reaches."""
        return self.target.space("GLOBAL").name

    @cached_property
    def vector(self) -> ComputeUnit:
        """The vector unit that does all work no other one is there for."""
        units = self.target.units("vector")
        general = [unit for unit in units if not unit.functions] or list(units)
        if not general:
            raise BackendError(error("X0712", f"target {self.target.target} has no vector unit"))
        return general[0]

    @cached_property
    def matrix(self) -> ComputeUnit | None:
        """The matrix unit, if there is one."""
        return next(iter(self.target.units("matrix")), None)

    @cached_property
    def local(self) -> str:
        """The memory that vector instructions work on."""
        return self.vector.operands.get(LOCAL) or self.target.space("VECTOR").name

    def core_of(self, unit: ComputeUnit | DataPath) -> str:
        """The kind of core a unit or path belongs to."""
        return unit.core or self.target.kinds[0].name

    def unit_for(self, operation: str) -> ComputeUnit:
        """The vector unit for a class of instruction, on the core that has the general one."""
        kind = operation.rpartition(".")[2]
        for unit in self.target.units("vector", core=self.vector.core):
            same_memory = (unit.operands.get(LOCAL) or self.local) == self.local
            if kind in unit.functions and same_memory:
                return unit
        return self.vector

    def scalar_engine(self, core: str) -> str:
        """The queue of a core's scalar unit."""
        return self.target.units("scalar", core=core)[0].queue

    def space(self, name: str) -> MemorySpace:
        """The memory space with a vendor's name."""
        return self.target.space(name)

    def route(self, source: str, destination: str) -> tuple[DataPath, ...]:
        """The shortest way from one space to another, over any cores; BackendError X0712 if there is none.

        From a space to itself it is empty: the vector unit moves data there.
        """
        if source == destination:
            return ()
        pending: deque[tuple[DataPath, ...]] = deque(((),))
        seen = {source}
        while pending:
            way = pending.popleft()
            here = way[-1].destination if way else source
            if here == destination and way:
                return way
            for path in self.target.data_paths:
                if path.source == here and path.destination not in seen:
                    seen.add(path.destination)
                    pending.append((*way, path))
        raise BackendError(
            error("X0712", f"target {self.target.target} has no way for data from {source} to {destination}")
        )

    def block_of(self, layout: str, space: str, itemsize: int, rows: int) -> tuple[int, int] | None:
        """Rows and columns of a block of a layout named by two letters; None for row-major memory.

        A fractal's row takes one unit of alignment of on-chip memory (32 bytes in all known targets).
        """
        if not layout:
            return None
        return rows, max(1, 32 // itemsize)
