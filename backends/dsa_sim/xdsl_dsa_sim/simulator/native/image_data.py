"""The image of a program as the structures of image.h."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from xdsl_core.dtypes import DType
from xdsl_dsa_sim.simulator.image import Action, CoreImage, Item, NumberImage, RegionImage, Slot
from xdsl_dsa_sim.simulator.python.state import NEVER
from xdsl_dsa_sim.simulator.setup import Setup
from xdsl_dsa_sim.simulator.sharing import dram_rates

_RULES = (
    *("none", "move", "indirect", "vector", "reduction", "scan", "lanes", "matrix"),
    *("scalar", "scalar_memory", "cycles", "flag"),
)
_SHAPES = ("", "copy", "same", "broadcast", "matrix", "reduce")
_TRAFFIC = ("", "read", "write")
_SCOPES = {"group": 1, "device": 2}
_OWNERS = {"core": 0, "cluster": 1, "device": 2}
_KINDS = {"bool": 0, "int": 1, "uint": 2, "float": 3}
# What the C engine computes itself, in the order of its enumeration; the rest is asked of Python.
_OPERATIONS = (
    *(
        "",
        "set",
        "s_add",
        "s_sub",
        "s_mul",
        "s_div",
        "s_rem",
        "s_min",
        "s_max",
        "s_and",
        "s_or",
        "s_xor",
        "s_not",
    ),
    *(
        "s_shl",
        "s_shr",
        "s_neg",
        "s_abs",
        "s_eq",
        "s_ne",
        "s_lt",
        "s_le",
        "s_gt",
        "s_ge",
        "s_select",
        "s_cast",
    ),
)


@dataclass(slots=True)
class Data:
    """Makes C arrays and keeps them alive."""

    ffi: Any
    kept: list[Any] = field(default_factory=list)

    def keep(self, made: Any) -> Any:
        self.kept.append(made)
        return made

    def array(self, kind: str, count: int) -> Any:
        """An array of zeros, never empty."""
        return self.keep(self.ffi.new(f"{kind}[]", max(count, 1)))


def register_bits(value: float, real: bool) -> int:
    """A register's 64 bits as a signed number."""
    packed = struct.pack("<d", value) if real else struct.pack("<Q", int(value) & 0xFFFFFFFFFFFFFFFF)
    return int(struct.unpack("<q", packed)[0])


def stride_of(setup: Setup) -> int:
    """The most engines a core of the run has."""
    return max((len(core.image.kind.engines) for core in setup.cores), default=1)


def setup_data(data: Data, setup: Setup) -> Any:
    """The setup_t of a run."""
    image, made = setup.image, data.keep(data.ffi.new("setup_t *"))
    made.images, made.cores = len(image.cores), len(setup.cores)
    made.spaces, made.storages = len(image.spaces), len(setup.memory.storages)
    made.groups = max((core.group for core in setup.cores), default=-1) + 1
    made.group_engines, made.stride = setup.group_engines, stride_of(setup)
    made.image = images = data.array("core_image_t", len(image.cores))
    for number, core in enumerate(image.cores):
        _core_image(data, setup, core, images[number])
    _cores(data, setup, made)
    _spaces(data, setup, made)
    _machine(setup, made.machine)
    made.workspace, made.workspace_bytes = setup.workspace[0], image.program.workspace
    made.functional, made.timed, made.trace = setup.functional, setup.timed, setup.trace
    made.max_steps = setup.max_steps
    return made


def _cores(data: Data, setup: Setup, made: Any) -> None:
    made.core = cores = data.array("core_setup_t", len(setup.cores))
    made.registers = registers = data.array("int64_t", sum(len(core.registers) for core in setup.cores))
    first = 0
    for number, core in enumerate(setup.cores):
        target = cores[number]
        target.image, target.group = setup.image.cores.index(core.image), core.group
        target.first_engine, target.first_register = core.first_engine, first
        for index, value in enumerate(core.registers):
            registers[first + index] = register_bits(value, index in core.image.float_registers)
        first += len(core.registers)


def _spaces(data: Data, setup: Setup, made: Any) -> None:
    kinds = [kind.name for kind in setup.image.description.kinds]
    made.space = spaces = data.array("space_t", len(setup.image.spaces))
    for number, space in enumerate(setup.image.spaces):
        target = spaces[number]
        target.capacity, target.alignment, target.owner = (
            space.capacity,
            space.alignment,
            _OWNERS[space.owner],
        )
        target.core = kinds.index(space.core) if space.core else -1
    made.storage = storages = data.array("storage_t", len(setup.memory.storages))
    for number, storage in enumerate(setup.memory.storages):
        target = storages[number]
        target.address, target.host, target.size = storage.address, storage.host, len(storage.data)
        target.writable = storage.writable


def _machine(setup: Setup, made: Any) -> None:
    model, description = setup.image.model, setup.image.description
    hertz = description.clock_hz or 1.0
    memory, vector, scalar, limits = model.memory, model.vector, model.scalar, description.limits
    made.segment, made.request, made.line = memory.segment, memory.request, memory.line
    made.l2_lines, made.miss_latency = memory.l2_capacity // memory.line, memory.miss_latency
    rates = [rate / hertz or NEVER for rate in dram_rates(description, memory)]
    made.dram_capacity, made.dram_read_capacity = rates
    made.head_isolated = model.matrix.head_isolated
    made.block, made.bank_groups, made.bank_bytes = vector.block, vector.bank_groups, vector.bank_bytes
    made.read_read, made.read_write = vector.read_read, vector.read_write
    made.repeated_block, made.mask_cycles = vector.repeated_block, vector.mask_cycles
    made.operation, made.branch, made.issue = scalar.operation, scalar.branch, scalar.issue
    made.local_memory, made.global_memory = scalar.local_memory, scalar.global_memory
    made.flag, made.cross_latency = model.sync.flag, model.sync.cross_latency
    made.event_flags, made.event_count = limits.get("event_flags", 0), limits.get("event_count", 1)
    made.cross_flags, made.cross_count = limits.get("cross_flags", 0), limits.get("cross_count", 1)
    made.queue_depth = limits.get("queue_depth", 32)


def _core_image(data: Data, setup: Setup, core: CoreImage, made: Any) -> None:
    memory, hertz = setup.image.model.memory, setup.image.description.clock_hz or 1.0
    kinds = [kind.name for kind in setup.image.description.kinds]
    slots: list[Slot] = []
    operands: list[Any] = []
    made.item = items = data.array("item_t", len(core.items))
    for number, item in enumerate(core.items):
        _item(item, items[number], len(slots), len(operands))
        slots += item.slots
        operands += [(item, operand) for operand in item.operands]
    made.step = steps = data.array("step_t", len(core.steps))
    for number, step in enumerate(core.steps):
        target = steps[number]
        target.code, target.item, target.reg = step.code, step.item, step.register
        target.hidden, target.target, target.first_slot = step.hidden, step.target, len(slots)
        slots += step.slots
    made.slot = slot_array = data.array("slot_t", len(slots))
    for number, slot in enumerate(slots):
        _slot(core, slot, slot_array[number])
    made.operand = operand_array = data.array("operand_t", len(operands))
    for number, (_, operand) in enumerate(operands):
        _operand(operand, operand_array[number])
    made.float_register = data.array("uint8_t", core.register_count)
    made.steps, made.items, made.slots, made.operands = (
        len(core.steps),
        len(core.items),
        len(slots),
        len(operands),
    )
    made.registers, made.engines = core.register_count, len(core.kind.engines)
    made.scalar_engine, made.kind, made.per_group = (
        core.scalar_engine,
        kinds.index(core.kind.name),
        core.kind.per_group,
    )
    made.l2_capacity = memory.l2_bandwidth.get(core.kind.name, 0.0) / hertz or NEVER
    made.shared_weight = memory.shared_weight.get(core.kind.name, 1.0)


def _slot(core: CoreImage, slot: Slot, made: Any) -> None:
    real = slot.register in core.float_registers or isinstance(slot.constant, float)
    made.reg, made.is_float = slot.register, real
    made.real = float(slot.constant)
    made.integer = 0 if real and slot.register < 0 else int(slot.constant)


def _operand(operand: Any, made: Any) -> None:
    if isinstance(operand, NumberImage):
        made.kind, made.first = 2, operand.first
    elif isinstance(operand, RegionImage):
        made.kind, made.reads, made.writes = 1, operand.reads, operand.writes
        made.space, made.itemsize = operand.space, operand.dtype.bytes
        made.rank, made.first = operand.rank, operand.first
        made.is_offsets = operand.name == "offsets"
        if operand.block is not None:
            made.block_rows, made.block_columns = operand.block.rows, operand.block.columns


def _item(item: Item, made: Any, first_slot: int, first_operand: int) -> None:
    timing, source = item.timing, item.source
    made.action, made.engine, made.other, made.reg = item.action, item.engine, item.other, item.register
    made.slots, made.first_slot = len(item.slots), first_slot
    made.operands, made.first_operand = len(item.operands), first_operand
    made.rule, made.shape_rule = _RULES.index(timing.rule), _SHAPES.index(item.shape_rule)
    made.alike_count, made.alike = len(item.alike), item.alike
    made.fills, made.starts_sum = item.fills, item.starts_sum
    made.is_path, made.is_scalar_unit = item.definition.unit == "path", item.definition.unit == "scalar"
    made.traffic, made.bypass, made.axis = _TRAFFIC.index(timing.traffic), timing.bypass, timing.axis
    made.scope = _SCOPES.get(str(source.attributes.get("scope", "group")), 1)
    made.fractal = timing.fractal
    made.rate, made.latency, made.issue = timing.rate, timing.latency, timing.issue
    made.row_cycles, made.per_step, made.startup = timing.row_cycles, timing.per_step, timing.startup
    if item.action is Action.REGISTER and source.dtype is not None and item.result is not None:
        made.scalar_op = _operation(item, source.dtype, item.result)
        made.bits, made.kind = source.dtype.bits, _KINDS[source.dtype.kind]
        made.result_bits, made.result_kind = item.result.bits, _KINDS[item.result.kind]


def _operation(item: Item, dtype: DType, result: DType) -> int:
    """The number of the operation in C; 0 for floats and for what asks for more than wrapping around."""
    name = item.definition.name
    special = any(item.source.attributes.get(key) for key in ("saturate",))
    if dtype.is_float or result.is_float or special or name not in _OPERATIONS:
        return 0
    return _OPERATIONS.index(name)
