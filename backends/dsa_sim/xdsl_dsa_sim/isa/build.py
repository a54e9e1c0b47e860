"""Making instructions, checked against their definition."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from xdsl_core.diagnostics import UNKNOWN, CompilationError, Location, error
from xdsl_core.dtypes import DType
from xdsl_dsa_sim.isa.definition import InstructionDef, OperandSpec
from xdsl_dsa_sim.isa.operands import Operand, Region, Register, Sum
from xdsl_dsa_sim.isa.program import Instruction
from xdsl_dsa_sim.isa.table import instruction_set

ABSENT = "_"


def instruction(
    engine: str,
    name: str,
    *operands: Operand | None,
    dtype: DType | None = None,
    location: Location = UNKNOWN,
    attributes: Mapping[str, Any] | None = None,
    **more: Any,
) -> Instruction:
    """An instruction for `engine`; operands in the definition's order, None for an optional one that is
    absent.

    Attributes are keywords (or in `attributes`, where a name is a Python word). CompilationError X0901 says
    what does not fit the definition.
    """
    definition = definition_of(name, location)
    given = {**(attributes or {}), **more}
    padded = [ABSENT if operand is None else operand for operand in operands]
    padded += [ABSENT] * (len(definition.operands) - len(padded))
    made = Instruction(engine, name, tuple(padded), dtype, given, location)
    require_fit(made, definition)
    return made


def definition_of(name: str, location: Location = UNKNOWN) -> InstructionDef:
    """The definition of a mnemonic; CompilationError X0901 if there is none."""
    found = instruction_set().get(name)
    if found is None:
        near = difflib.get_close_matches(name, instruction_set(), n=1)
        help = f"did you mean {near[0]}?" if near else "see the instruction set in the documentation"
        raise CompilationError(
            error("X0901", f"there is no instruction {name}", location=location, help=help)
        )
    return found


def require_fit(made: Instruction, definition: InstructionDef) -> None:
    """CompilationError X0901 with everything about an instruction that its definition does not allow."""
    found = [*_operand_problems(made, definition), *_attribute_problems(made, definition)]
    if definition.typed and made.dtype is None:
        found.append(f"a dtype is missing: write {made.name}.f32 or the like")
    if not definition.typed and made.dtype is not None:
        found.append("takes no dtype")
    if found:
        raise CompilationError(
            [error("X0901", f"{made.engine} {made.name}: {line}", location=made.location) for line in found]
        )


def _operand_problems(made: Instruction, definition: InstructionDef) -> list[str]:
    if len(made.operands) != len(definition.operands):
        names = ", ".join(spec.name for spec in definition.operands) or "none"
        return [f"{len(made.operands)} operands; it takes {names}"]
    return [
        f"operand {spec.name} is {operand}; it must be a {' or a '.join(spec.kinds)}"
        for spec, operand in zip(definition.operands, made.operands, strict=True)
        if not fits(operand, spec)
    ]


def fits(operand: Operand, spec: OperandSpec) -> bool:
    """Whether an operand is of a kind that its place allows."""
    if operand == ABSENT:
        return spec.optional
    if isinstance(operand, Region):
        return "region" in spec.kinds
    if isinstance(operand, Register):
        return "register" in spec.kinds or "scalar" in spec.kinds
    if isinstance(operand, (int, float, Sum)):
        return "scalar" in spec.kinds
    return "engine" in spec.kinds or "core" in spec.kinds


def _attribute_problems(made: Instruction, definition: InstructionDef) -> list[str]:
    known = {spec.name: spec for spec in definition.attributes}
    found = []
    for name, value in made.attributes.items():
        if name not in known:
            found.append(f"no attribute {name}; it has {', '.join(known) or 'none'}")
        elif not isinstance(value, known[name].kinds) and value is not known[name].default:
            found.append(f"attribute {name} is {value!r}")
        elif known[name].choices and value not in known[name].choices:
            found.append(
                f"attribute {name} is {value!r}, none of {', '.join(map(repr, known[name].choices))}"
            )
    return found
