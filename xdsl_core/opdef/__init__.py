"""How an op is declared once: a class body with operands, rules, reference, samples and error budget."""

from xdsl_core.opdef.completeness import DefinitionError
from xdsl_core.opdef.definition import OpDef, op
from xdsl_core.opdef.facets import (
    Budget,
    Constraint,
    Contraction,
    ErrorSample,
    Exact,
    NoBudget,
    Sample,
    Ulp,
    attribute,
    constraint,
    operand,
    reference,
    region,
    result,
    type_rule,
    undefined_lanes,
)
from xdsl_core.opdef.opset import OpSet

__all__ = [
    "Budget",
    "Constraint",
    "Contraction",
    "DefinitionError",
    "ErrorSample",
    "Exact",
    "NoBudget",
    "OpDef",
    "OpSet",
    "Sample",
    "Ulp",
    "attribute",
    "constraint",
    "op",
    "operand",
    "reference",
    "region",
    "result",
    "type_rule",
    "undefined_lanes",
]
