"""The meaning of instructions, applied to the memories of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xdsl_dsa_sim.isa import InstructionDef
from xdsl_dsa_sim.isa.views import View
from xdsl_dsa_sim.simulator.console import Console
from xdsl_dsa_sim.simulator.faults import Fault, Kind
from xdsl_dsa_sim.simulator.geometry import geometry_of
from xdsl_dsa_sim.simulator.global_memory import GlobalMemory, OutsideError
from xdsl_dsa_sim.simulator.image import Item, NumberImage, RegionImage
from xdsl_dsa_sim.simulator.setup import Setup

# What memories hold at first: as a float NaN or a huge number, as an integer an unlikely one.
_LEFTOVER = 0xC7


@dataclass(slots=True)
class Memories:
    """The bytes of on-chip memories, made when first used; those of a group's cores are one where shared."""

    setup: Setup
    arrays: dict[tuple[int, int], Any] = field(default_factory=dict)

    def bytes_of(self, core: int, space: int) -> Any:
        """The bytes of a core's memory space."""
        shared = self.setup.image.spaces[space].owner != "core"
        key = (-1 - self.setup.cores[core].group if shared else core, space)
        if key not in self.arrays:
            self.arrays[key] = np.full(self.setup.image.spaces[space].capacity, _LEFTOVER, np.uint8)
        return self.arrays[key]


class Semantics:
    """Calls an instruction's meaning with views of memory; an `Executor` of the engines."""

    def __init__(self, setup: Setup, console: Console) -> None:
        self.setup = setup
        self.memories = Memories(setup)
        self.memory: GlobalMemory = setup.memory
        self.console = console
        self.constants: dict[int, dict[str, Any]] = {}

    def __call__(self, core: int, item: Item, values: Any, program: int) -> Any:
        definition = item.definition
        if definition.semantics is None:
            return None
        names = {
            spec.name: self._operand(core, operand, values)
            for spec, operand in zip(definition.operands, item.operands, strict=True)
        }
        arguments = self._arguments(item, definition, names)
        self.console.begin(program, item.location)
        try:
            with np.errstate(all="ignore"):
                return definition.semantics(**{name: arguments[name] for name in definition.parameters})
        except OutsideError as outside:
            detail = (-1, outside.low, outside.high, int(outside.writes))
            raise Fault(Kind.OUTSIDE_GLOBAL, core, item.index, 0.0, detail) from None

    def _arguments(self, item: Item, definition: InstructionDef, names: dict[str, Any]) -> dict[str, Any]:
        constants = self.constants.get(id(item))
        if constants is None:
            attributes = definition.attribute_values(item.source.attributes)
            constants = {"attributes": attributes, "dtype": item.source.dtype, **attributes}
            self.constants[id(item)] = constants
        return {"memory": self.memory, "console": self.console, "operands": names, **constants, **names}

    def _operand(self, core: int, operand: Any, values: Any) -> Any:
        if isinstance(operand, NumberImage):
            return values[operand.first]
        if not isinstance(operand, RegionImage):
            return None
        return self._view(core, operand, values)

    def _view(self, core: int, operand: RegionImage, values: Any) -> View:
        geometry = geometry_of(operand, values)
        strides = tuple(stride // geometry.itemsize for stride in geometry.strides)
        if not geometry.elements:
            data = np.empty(0, np.uint8)
        elif self.setup.image.spaces[operand.space].owner == "device":
            data = self.memory.bytes_at(geometry.low, geometry.high, writes=operand.writes)
        else:
            data = self.memories.bytes_of(core, operand.space)[geometry.low : geometry.high]
        offset = int(values[operand.first]) - geometry.low if geometry.elements else 0
        return View(data, operand.dtype, geometry.shape, strides, operand.block, offset)
