"""Instructions of the scalar unit, and those that order engines and cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from xdsl_core.dtypes import DType, i1
from xdsl_core.opdef import OpDef
from xdsl_dsa_sim.isa.definition import (
    FLAG,
    SCALAR,
    SCALAR_MEMORY,
    WAIT_CYCLES,
    AttributeSpec,
    InstructionDef,
    OperandSpec,
    defines,
    engine,
    number,
    reads,
    reads_either,
    writes,
)
from xdsl_dsa_sim.isa.vector import compute, lanewise_ops, lanewise_result, operand_dtype, wide
from xdsl_dsa_sim.isa.views import View, to_storage

SCALAR_PREFIX = "s_"


def scalar_result(name: str, dtype: DType, attributes: Mapping[str, Any]) -> DType:
    """The dtype of the register that a typed scalar instruction sets."""
    definition = (
        lanewise_ops().get(name.removeprefix(SCALAR_PREFIX)) if name.startswith(SCALAR_PREFIX) else None
    )
    return dtype if definition is None else lanewise_result(definition, dtype, attributes)


def _scalar_semantics(definition: OpDef) -> Callable[..., Any]:
    def meaning(dtype: DType, operands: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
        values = tuple(wide(operands[name], operand_dtype(name, dtype)) for name in definition.operands)
        result = lanewise_result(definition, dtype, attributes)
        return compute(definition, dtype, result, values, attributes).item()

    return meaning


def _scalar_op(name: str, definition: OpDef) -> InstructionDef:
    operands = tuple(number(operand, facet.doc) for operand, facet in definition.operands.items())
    attributes = tuple(
        AttributeSpec(key, facet.kinds, facet.doc, facet.default, facet.choices or ())
        for key, facet in definition.attributes.items()
    )
    return InstructionDef(
        name=f"{SCALAR_PREFIX}{name}",
        doc=f"{definition.doc}\n\nOn registers; the result is a number of the op's result type.",
        unit="scalar",
        operands=(defines("destination", "the result"), *operands),
        attributes=attributes,
        typed=True,
        semantics=_scalar_semantics(definition),
        timing=SCALAR,
        cost_class=name,
    )


@cache
def scalar_ops() -> tuple[InstructionDef, ...]:
    """One scalar instruction for every op of the table that works lane by lane."""
    return tuple(_scalar_op(name, definition) for name, definition in lanewise_ops().items())


def _set(source: Any, dtype: DType) -> Any:
    return to_storage(wide(source, dtype), dtype).item()


def _load(source: View) -> Any:
    return source.read().reshape(-1)[0].item()


def _store(destination: View, value: Any) -> None:
    destination.write(to_storage(wide(value, destination.dtype), destination.dtype))


def _print(console: Any, values: Any, dtype: DType, prefix: str, hex: bool) -> None:
    console.print(prefix, _shown(values, dtype), dtype, hex)


def _check(console: Any, condition: Any, mask: Any, message: str) -> None:
    active = True if mask is None else _shown(mask, i1)
    console.check(_shown(condition, i1), active, message)


def _shown(value: Any, dtype: DType) -> Any:
    """A region's elements, or a number; None stays None."""
    return value.read() if isinstance(value, View) else value if value is None else wide(value, dtype)


SCALAR_INSTRUCTIONS = (
    InstructionDef(
        name="set",
        doc="""Sets a register of an integer or float dtype.""",
        unit="scalar",
        operands=(defines("destination", "the register"), number("source", "its new value")),
        typed=True,
        semantics=_set,
        timing=SCALAR,
        cost_class="set",
    ),
    InstructionDef(
        name="load",
        doc="""Reads one element of memory into a register; the scalar unit waits for it.""",
        unit="scalar",
        operands=(defines("destination", "the register"), reads("source", "a region of one element")),
        semantics=_load,
        timing=SCALAR_MEMORY,
    ),
    InstructionDef(
        name="store",
        doc="""Writes a number to one element of memory.""",
        unit="scalar",
        operands=(writes("destination", "a region of one element"), number("value", "the number")),
        semantics=_store,
        timing=SCALAR_MEMORY,
    ),
    InstructionDef(
        name="work",
        doc="""Stands for scalar work that is not spelt out: the scalar unit is busy for that many cycles.""",
        unit="scalar",
        operands=(number("cycles", "how many"),),
        semantics=None,
        timing=WAIT_CYCLES,
    ),
    InstructionDef(
        name="program",
        doc="""Says which program of the grid the code after it belongs to: messages name it, and a race is
        only one between accesses of the same program.""",
        unit="scalar",
        operands=(number("program", "x + grid_x * (y + grid_y * z)"),),
        semantics=None,
        timing=SCALAR,
    ),
    InstructionDef(
        name="print",
        doc="""Prints a number or a region with the program's id, as debug.print.""",
        unit="scalar",
        operands=(
            reads_either("values", "what is printed; nothing but the prefix if absent", optional=True),
        ),
        attributes=(
            AttributeSpec("prefix", (str,), "text in front", ""),
            AttributeSpec("hex", (bool,), "integers in hexadecimal", False),
        ),
        typed=True,
        semantics=_print,
        timing=SCALAR,
    ),
    InstructionDef(
        name="assert",
        doc="""Stops the launch with an error where the condition is 0 in a lane that the mask leaves on.""",
        unit="scalar",
        operands=(
            reads_either("condition", "i1, one or many"),
            reads_either("mask", "i1 of the same shape", optional=True),
        ),
        attributes=(AttributeSpec("message", (str,), "what the author wrote", ""),),
        semantics=_check,
        timing=SCALAR,
    ),
)

SYNCHRONISATION = (
    InstructionDef(
        name="set_flag",
        doc="""Sets flag `id` for engine `to`, once everything before it on this engine is done.""",
        unit="any",
        operands=(
            engine("to", "who waits for it"),
            number("id", "0 up to the target's number of flags a pair"),
        ),
        semantics=None,
        timing=FLAG,
    ),
    InstructionDef(
        name="wait_flag",
        doc="""Holds this engine until engine `from` has set flag `id`, and takes the flag back.""",
        unit="any",
        operands=(engine("from", "who sets it"), number("id", "the flag")),
        semantics=None,
        timing=FLAG,
    ),
    InstructionDef(
        name="barrier",
        doc="""Holds what follows on this engine until everything before it on this engine is done. On the
        scalar unit: until all engines of the core are done.""",
        unit="any",
        semantics=None,
        operands=(),
        timing=FLAG,
    ),
    InstructionDef(
        name="set_cross",
        doc="""Tells the cores of kind `to` in this group, once everything before it on this engine is done:
        each one's count for flag `id` and this core goes up by one.""",
        unit="any",
        operands=(
            OperandSpec("to", "read", ("core",), "the kind of core that waits"),
            number("id", "0 up to the target's number of flags between cores"),
        ),
        semantics=None,
        timing=FLAG,
    ),
    InstructionDef(
        name="wait_cross",
        doc="""Holds this engine until every core of kind `from` in this group has set flag `id` for this
        core, and takes one from each.""",
        unit="any",
        operands=(
            OperandSpec("from", "read", ("core",), "the kind of core that sets it"),
            number("id", "the flag"),
        ),
        semantics=None,
        timing=FLAG,
    ),
    InstructionDef(
        name="barrier_cores",
        doc="""Holds this engine until every core of the scope that runs code has come to its barrier, with
        all its engines done.""",
        unit="scalar",
        operands=(),
        attributes=(AttributeSpec("scope", (str,), "who takes part", "group", ("group", "device")),),
        semantics=None,
        timing=FLAG,
    ),
)
