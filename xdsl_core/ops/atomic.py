"""Indivisible reads with writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type, pointee_of, with_element
from xdsl_core.opdef import (
    Contraction,
    ErrorSample,
    Exact,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import Bool, Pointer, TypePattern
from xdsl_core.ops._shared import few_values, integers, permutation, within
from xdsl_core.ops.memory import MASK_SHAPE

ATOMIC = (Trait.READS_MEMORY, Trait.WRITES_MEMORY, Trait.ATOMIC)
KINDS = ("add", "max", "min", "and", "or", "xor", "xchg")
ORDERS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = ("cta", "gpu", "sys")
UPDATED = TypePattern(
    "integer of 8 to 64 bits, f16, bf16, f32 or f64",
    tuple(dtype for dtype in dtypes.ALL if dtype.bits >= (16 if dtype.is_float else 8)),
)
EXCHANGED = TypePattern(
    "integer or float of 16, 32 or 64 bits",
    tuple(dtype for dtype in dtypes.ALL if dtype.bits >= 16),
)
_UPDATES: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "add": np.add,
        "max": np.fmax,
        "min": np.fmin,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "xchg": lambda _, value: value,
    }
)


def update_of(kind: str, *, compares: bool) -> Callable[..., Any]:
    """What an atomic op leaves in memory: of (old, value), or where it compares of (old, compare, value)."""
    return _swap_if_same if compares else _UPDATES[kind]


def _rmw_samples() -> tuple[Sample, ...]:
    found: list[Sample] = []
    for number, kind in enumerate(KINDS):
        bitwise = kind in ("and", "or", "xor")
        narrow = ("i8", "u16") if bitwise else ("u8", "i16")
        elements = (*narrow, "i32", "u32", "i64", "u64", *(() if bitwise else ("f32", "f64")))
        for element in (*elements, *(("f16", "bf16") if kind in ("add", "xchg") else ())):
            shape = ("7x", "3x5x", "", "1x", "48x")[(number + len(found)) % 5]
            value, pointer, mask = (
                f"tile<{shape}{each}>" if shape else each for each in (element, f"ptr<{element}>", "i1")
            )
            data = {"pointer": permutation, "value": within(0, 4) if element[0] in "bf" else integers(0, 9)}
            found.append(Sample({"pointer": pointer, "value": value}, {"kind": kind}, data))
            found.append(Sample({"pointer": pointer, "value": value, "mask": mask}, {"kind": kind}, data))
    return tuple(found)


_VALUE_TYPE = constraint(
    "C2",
    "value.shape == pointer.shape and value.element == pointer.element.pointee",
    "the value does not have the type that the pointer points to",
    help="cast the value to the pointee and broadcast it to the pointer's shape",
    code="X0214",
)


@op("atomic.rmw", since="0.1", profile="ext-atomics", traits=ATOMIC)
class AtomicRmw:
    """Reads an element, combines it with a value and writes it back as one step; gives what was read.

    Every active lane takes effect, lanes with equal addresses one after the other in any order. A masked-off
    lane touches no memory and gives an undefined value. `add`, `max`, `min` work on numbers (integers wrap;
    max and min of a number and NaN are the number), `and`, `or`, `xor` on bits, `xchg` just writes. `sem`
    orders other accesses around it, `scope` says with whom; both as in Triton. The address must be a multiple
    of the element's size.
    """

    pointer = operand(Pointer, doc="what to change, a pointer or a tile of pointers")
    value = operand(UPDATED, doc="what to combine with, of the pointer's shape and pointee")
    mask = operand(Bool, doc="which lanes take part, of the shape of the pointer", optional=True)
    kind = attribute(str, doc="how to combine", choices=KINDS)
    sem = attribute(str, doc="memory order", choices=ORDERS, default="acq_rel")
    scope = attribute(str, doc="who sees it as one step", choices=SCOPES, default="gpu")
    old = result(doc="what was there before")
    constraints = (
        MASK_SHAPE,
        _VALUE_TYPE,
        constraint(
            "C3",
            "value.element.is_integer or kind not in ('and', 'or', 'xor')",
            "floats have no bitwise atomics",
            help="use an integer pointer, or another kind",
            code="X0223",
        ),
        constraint(
            "C4",
            "value.element.is_integer or value.element.bits >= 32 or kind in ('add', 'xchg')",
            "half floats have no atomic max and min",
            help="use f32",
            code="X0223",
        ),
    )
    samples = (
        *_rmw_samples(),
        Sample(
            {"pointer": "tile<8xptr<i32>>", "value": "tile<8xi32>"},
            {"kind": "add"},
            {"pointer": [0, 1, 0, 0, 3, 1, 0, 3], "value": [1] * 8},
            "equal addresses",
        ),
    )
    error_samples = (
        ErrorSample("C1", {"pointer": "ptr<i32>", "value": "i32", "mask": "tile<4xi1>"}, {"kind": "add"}),
        ErrorSample("C2", {"pointer": "tile<4xptr<i32>>", "value": "i32"}, {"kind": "add"}),
        ErrorSample("C3", {"pointer": "ptr<f32>", "value": "f32"}, {"kind": "xor"}),
        ErrorSample("C4", {"pointer": "ptr<f16>", "value": "f16"}, {"kind": "max"}),
    )
    budget = Contraction(over="product(value.shape)")

    @type_rule
    def _(pointer: Type) -> Type:
        return with_element(pointer, pointee_of(pointer))

    @reference
    def _compute(machine: Any, op: Op, pointer: Any, value: Any, mask: Any, kind: str, sem: str) -> Any:
        pointee = pointee_of(op.operand("pointer").type)
        return machine.atomic(pointer, (value,), mask, pointee, _UPDATES[kind], orders=sem != "relaxed")


def _swap_if_same(old: Any, compare: Any, value: Any) -> Any:
    """The value where the bits of old and compare are equal, else old."""
    same = old.view(np.int64) == compare.view(np.int64) if old.dtype.kind == "f" else old == compare
    return np.where(same, value, old)


@op("atomic.cas", since="0.1", profile="ext-atomics", traits=ATOMIC)
class AtomicCas:
    """Compares an element with `compare` and, if the bits are equal, writes `value`, as one step; gives what
    was read.

    Lanes with equal addresses take effect one after the other in any order. `sem` and `scope` are as in
    `atomic.rmw`. The address must be a multiple of the element's size.
    """

    pointer = operand(Pointer, doc="what to change, a pointer or a tile of pointers")
    compare = operand(EXCHANGED, doc="what is expected there, of the pointer's shape and pointee")
    value = operand(EXCHANGED, doc="what to write if it is, of the type of compare")
    sem = attribute(str, doc="memory order", choices=ORDERS, default="acq_rel")
    scope = attribute(str, doc="who sees it as one step", choices=SCOPES, default="gpu")
    old = result(doc="what was there before")
    constraints = (
        constraint(
            "C1",
            "compare == value",
            "compare and value differ in type",
            help="cast both to the pointee of the pointer",
            code="X0209",
        ),
        _VALUE_TYPE,
    )
    samples = (
        *(
            Sample(
                {
                    "pointer": f"tile<{shape}ptr<{element}>>",
                    "compare": f"tile<{shape}{element}>",
                    "value": f"tile<{shape}{element}>",
                },
                values={"pointer": permutation, "pointer.memory": few_values, "compare": few_values},
            )
            for shape in ("48x", "3x5x")
            for element in ("i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64")
        ),
        Sample({"pointer": "ptr<i32>", "compare": "i32", "value": "i32"}),
    )
    error_samples = (
        ErrorSample("C1", {"pointer": "ptr<i32>", "compare": "i64", "value": "i32"}),
        ErrorSample("C2", {"pointer": "ptr<i32>", "compare": "i64", "value": "i64"}),
    )
    budget = Exact()

    @type_rule
    def _(pointer: Type) -> Type:
        return with_element(pointer, pointee_of(pointer))

    @reference
    def _compute(machine: Any, op: Op, pointer: Any, compare: Any, value: Any, sem: str) -> Any:
        pointee = pointee_of(op.operand("pointer").type)
        return machine.atomic(
            pointer, (compare, value), None, pointee, _swap_if_same, orders=sem != "relaxed"
        )
