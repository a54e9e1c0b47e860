"""Timing parameters of instructions: which unit or data path of the target executes them, at what cost."""

from __future__ import annotations

from xdsl_core.target import ComputeUnit, CoreKind, DataPath, TargetDescription
from xdsl_dsa_sim.isa import Instruction, InstructionDef, Region
from xdsl_dsa_sim.isa.vector import is_function
from xdsl_dsa_sim.simulator.image import Timing

FUNCTION_CLASS = "math"
_ALONG_AN_AXIS = ("reduction", "scan")
_MATRIX_ROLES = ("accumulator", "lhs", "rhs")


class Problem(Exception):
    """An instruction asks for what the target does not have; `help` says what would do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def timing_of(
    instruction: Instruction, definition: InstructionDef, description: TargetDescription, kind: CoreKind
) -> tuple[Timing, str]:
    """The timing of an instruction and the name of the data path it uses ("" for none); raises Problem."""
    memory = global_space(description)
    if definition.unit == "path":
        path = _path(instruction, description, kind, memory)
        return _path_timing(instruction, definition, path, memory), f"{path.source}->{path.destination}"
    if definition.unit in ("vector", "matrix"):
        unit = _unit(instruction, definition.unit, description, kind)
        _require_spaces(instruction, definition, unit)
        make = _vector_timing if definition.unit == "vector" else _matrix_timing
        return make(instruction, definition, unit), ""
    if definition.unit == "scalar":
        _unit(instruction, "scalar", description, kind)
    if definition.timing.name == "scalar_memory":
        region = next(operand for operand in instruction.operands if isinstance(operand, Region))
        return Timing("scalar_memory", traffic="read" if region.space == memory else ""), ""
    return Timing(definition.timing.name), ""


def global_space(description: TargetDescription) -> str:
    """The vendor's name of the memory that all programs share."""
    return description.space("GLOBAL").name


def _path(instruction: Instruction, description: TargetDescription, kind: CoreKind, memory: str) -> DataPath:
    regions = [operand for operand in instruction.operands if isinstance(operand, Region)]
    if instruction.name == "copy":
        destination, source = regions[0].space, regions[1].space
    elif instruction.name == "gather":
        source, destination = memory, regions[0].space
    else:
        source, destination = regions[0].space, memory
    path = description.path(source, destination, core=kind.name)
    if path is None:
        known = ", ".join(
            f"{p.source}->{p.destination}" for p in description.data_paths if p.core in ("", kind.name)
        )
        raise Problem(f"there is no data path {source}->{destination}", f"there are {known}")
    if path.engine != instruction.engine:
        raise Problem(f"the data path {source}->{destination} belongs to engine {path.engine}")
    if instruction.name == "copy" and regions[0].dtype is not regions[1].dtype:
        change = f"{regions[1].dtype}->{regions[0].dtype}"
        if change not in path.conversions:
            can = ", ".join(path.conversions) or "nothing"
            raise Problem(
                f"the data path {source}->{destination} does not convert {change}", f"it converts {can}"
            )
    return path


def _path_timing(instruction: Instruction, definition: InstructionDef, path: DataPath, memory: str) -> Timing:
    traffic = "read" if path.source == memory else "write" if path.destination == memory else ""
    regions = [operand for operand in instruction.operands if isinstance(operand, Region)]
    changes_layout = definition.name == "copy" and (regions[0].block is None) != (regions[1].block is None)
    return Timing(
        definition.timing.name,
        rate=path.bytes_per_cycle,
        latency=path.latency,
        issue=path.issue,
        row_cycles=path.row_cycles if changes_layout else 0.0,
        traffic=traffic,
        bypass=instruction.attributes.get("cache") == "bypass",
    )


def _unit(instruction: Instruction, kind: str, description: TargetDescription, core: CoreKind) -> ComputeUnit:
    units = description.units(kind, core=core.name)
    found = next((unit for unit in units if unit.queue == instruction.engine), None)
    if found is None:
        engines = ", ".join(unit.queue for unit in units)
        raise Problem(
            f"engine {instruction.engine} is no {kind} unit",
            f"{kind} instructions go to {engines}" if engines else "",
        )
    return found


def _require_spaces(instruction: Instruction, definition: InstructionDef, unit: ComputeUnit) -> None:
    for spec, operand in zip(definition.operands, instruction.operands, strict=True):
        wanted = unit.operands.get(spec.name if spec.name in _MATRIX_ROLES else "local", "")
        if isinstance(operand, Region) and wanted and operand.space != wanted:
            raise Problem(f"{spec.name} is in {operand.space}; the {unit.name} unit takes it from {wanted}")


def _vector_timing(instruction: Instruction, definition: InstructionDef, unit: ComputeUnit) -> Timing:
    regions = [operand for operand in instruction.operands if isinstance(operand, Region)]
    dtype = instruction.dtype or regions[-1].dtype
    name = definition.cost_class or definition.name
    # what only moves numbers does so whatever their dtype
    computes = definition.typed or definition.timing.name in _ALONG_AN_AXIS
    classes = [f"{name}.{dtype}", *([dtype.name] if computes else []), name]
    classes += [FUNCTION_CLASS] if is_function(name) else []
    cost = next((unit.costs[key] for key in classes if key in unit.costs), None)
    return Timing(
        definition.timing.name,
        rate=unit.bytes_per_cycle,
        per_step=cost.per_step if cost else 1.0,
        startup=cost.startup if cost else unit.startup,
        axis=instruction.attributes.get("axis", 0),
    )


def _matrix_timing(instruction: Instruction, definition: InstructionDef, unit: ComputeUnit) -> Timing:
    accumulator, lhs, rhs = (operand for operand in instruction.operands if isinstance(operand, Region))
    fractal = unit.fractal(lhs.dtype.name)
    if fractal is None or rhs.dtype is not lhs.dtype:
        known = ", ".join(item.dtype for item in unit.fractals)
        raise Problem(
            f"the {unit.name} unit does not multiply {lhs.dtype} and {rhs.dtype}", f"it multiplies {known}"
        )
    del accumulator
    return Timing(
        definition.timing.name,
        rate=fractal.per_cycle,
        startup=unit.startup,
        fractal=(fractal.m, fractal.n, fractal.k),
    )
