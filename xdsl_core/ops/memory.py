"""Loads and stores through pointers."""

from __future__ import annotations

from typing import Any

from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type, pointee_of, with_element
from xdsl_core.opdef import (
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
from xdsl_core.opdef.patterns import AnyNumber, Bool, Pointer
from xdsl_core.ops._shared import permutation

LOAD_CACHE = ("", ".ca", ".cg", ".cv", ".cs")
STORE_CACHE = ("", ".wb", ".cg", ".cs", ".wt")
EVICTION = ("", "evict_first", "evict_last", "evict_normal")
MASK_SHAPE = constraint(
    "C1",
    "mask is None or mask.shape == pointer.shape",
    "mask and pointer differ in shape",
    help="broadcast the mask to the shape of the pointer",
    code="X0213",
)
_USES = (
    *(
        ("", "f32"),
        ("48x", "f32"),
        ("3x7x", "f32"),
        ("2x3x4x", "f32"),
        ("1x", "f32"),
        ("5x", "f64"),
        ("6x", "f16"),
    ),
    *(("9x", "bf16"), ("7x", "f8e4m3fn"), ("7x", "f8e5m2"), ("4x", "f8e4m3fnuz"), ("3x", "f8e5m2fnuz")),
    *(
        ("3x", "f8e4m3b11fnuz"),
        ("5x", "i8"),
        ("5x", "i16"),
        ("3x5x", "i32"),
        ("7x", "i64"),
        ("5x", "u8"),
        ("5x", "u16"),
    ),
    *(("", "u32"), ("5x", "u32"), ("5x", "u64"), ("7x", "i1"), ("", "i1"), ("", "i64")),
)


def _kind(shape: str, element: str) -> str:
    return f"tile<{shape}{element}>" if shape else element


@op("memory.load", since="0.1", profile="core", traits=(Trait.READS_MEMORY,))
class Load:
    """The elements that pointers point to.

    A lane whose mask is false touches no memory: it gets `other`, or without `other` an undefined value (the
    reference interpreter reports its use when it checks, and gives 0 otherwise). A bool is one byte in
    memory, true unless 0. `cache`, `eviction` and `volatile` are hints as in Triton and change no result of
    one program. Reading outside the argument's memory is an error that a backend need not notice.
    """

    pointer = operand(Pointer, doc="where to read, a pointer or a tile of pointers")
    mask = operand(Bool, doc="which lanes to read, of the shape of the pointer", optional=True)
    other = operand(AnyNumber, doc="what masked-off lanes get, of the type of the result", optional=True)
    cache = attribute(str, doc="the caches to use", choices=LOAD_CACHE, default="")
    eviction = attribute(str, doc="how long to keep the line", choices=EVICTION, default="")
    volatile = attribute(bool, doc="read anew even if nothing here wrote", default=False)
    value = result(doc="what the pointers point to, in the pointer's shape")
    constraints = (
        MASK_SHAPE,
        constraint(
            "C2",
            "other is None or (other.shape == pointer.shape and other.element == pointer.element.pointee)",
            "other does not have the type of what is loaded",
            help="cast other to the element that the pointer points to and broadcast it",
            code="X0214",
        ),
        constraint(
            "C3",
            "other is None or mask is not None",
            "other without a mask has no effect",
            help="give a mask, or leave other out",
            code="X0225",
        ),
    )
    samples = (
        *(Sample({"pointer": _kind(shape, f"ptr<{element}>")}) for shape, element in _USES),
        *(
            Sample(
                {
                    "pointer": _kind(shape, f"ptr<{element}>"),
                    "mask": _kind(shape, "i1"),
                    "other": _kind(shape, element),
                }
            )
            for shape, element in _USES
        ),
    )
    error_samples = (
        ErrorSample("C1", {"pointer": "tile<4xptr<f32>>", "mask": "i1"}),
        ErrorSample("C2", {"pointer": "tile<4xptr<f32>>", "mask": "tile<4xi1>", "other": "tile<4xi32>"}),
        ErrorSample("C2", {"pointer": "tile<4xptr<f32>>", "mask": "tile<4xi1>", "other": "f32"}),
        ErrorSample("C3", {"pointer": "ptr<f32>", "other": "f32"}),
    )
    budget = Exact()

    @type_rule
    def _(pointer: Type) -> Type:
        return with_element(pointer, pointee_of(pointer))

    @reference
    def _compute(machine: Any, op: Op, pointer: Any, mask: Any, other: Any) -> Any:
        return machine.load(pointer, mask, other, pointee_of(op.operand("pointer").type))


@op("memory.store", since="0.1", profile="core", traits=(Trait.WRITES_MEMORY,))
class Store:
    """Writes elements to where pointers point.

    A lane whose mask is false touches no memory. Lanes of one store that write the same address leave one of
    their values there, undefined which. A bool is written as the byte 0 or 1. `cache` and `eviction` are
    hints as in Triton. Writing outside the argument's memory is an error; a backend need not notice it, the
    reference interpreter does.
    """

    pointer = operand(Pointer, doc="where to write, a pointer or a tile of pointers")
    value = operand(AnyNumber, doc="what to write, of the pointer's shape and pointee")
    mask = operand(Bool, doc="which lanes to write, of the shape of the pointer", optional=True)
    cache = attribute(str, doc="the caches to use", choices=STORE_CACHE, default="")
    eviction = attribute(str, doc="how long to keep the line", choices=EVICTION, default="")
    constraints = (
        MASK_SHAPE,
        constraint(
            "C2",
            "value.shape == pointer.shape and value.element == pointer.element.pointee",
            "the value does not have the type that the pointer points to",
            help="cast the value to the pointee and broadcast it to the pointer's shape",
            code="X0214",
        ),
    )
    samples = (
        *(
            Sample(
                {"pointer": _kind(shape, f"ptr<{element}>"), "value": _kind(shape, element)},
                values={"pointer": permutation},
            )
            for shape, element in _USES
        ),
        *(
            Sample(
                {
                    "pointer": _kind(shape, f"ptr<{element}>"),
                    "value": _kind(shape, element),
                    "mask": _kind(shape, "i1"),
                },
                values={"pointer": permutation},
            )
            for shape, element in _USES
        ),
    )
    error_samples = (
        ErrorSample("C1", {"pointer": "tile<4xptr<f32>>", "value": "tile<4xf32>", "mask": "tile<5xi1>"}),
        ErrorSample("C2", {"pointer": "tile<4xptr<f32>>", "value": "tile<4xf64>"}),
        ErrorSample("C2", {"pointer": "tile<4xptr<f32>>", "value": "f32"}),
    )
    budget = Exact()

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, pointer: Any, value: Any, mask: Any) -> None:
        machine.store(pointer, value, mask, pointee_of(op.operand("pointer").type))
