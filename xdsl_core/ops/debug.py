"""Looking into a running program: prints and assertions."""

from __future__ import annotations

from typing import Any

from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import element_of
from xdsl_core.opdef import (
    ErrorSample,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyValue, Bool


@op("debug.print", since="0.1", profile="core", traits=(Trait.EFFECT,))
class Print:
    """Prints values, once for each program: the program's id, the prefix, then all elements.

    One line an operand, `(0, 2, 0) prefix [1 2 3]`; a tile of higher rank nests brackets, row by row; without
    operands the line ends after the prefix. Integers are decimal, or with `hex` in base 16 with all digits of
    their width; bools 0 and 1; floats as C's `%g`; pointers as `hex` of 64 bits. The order of programs is
    free.
    """

    values = operand(AnyValue, doc="what to print", variadic=True)
    prefix = attribute(str, doc="text before the values")
    hex = attribute(bool, doc="integers in base 16", default=False)
    samples = (
        Sample({"values": ()}, {"prefix": "here"}),
        Sample({"values": ("i32", "tile<3xf32>")}, {"prefix": "x ="}),
        *(
            Sample({"values": (f"tile<2x3x{element}>",)}, {"prefix": ""})
            for element in ("f16", "bf16", "f64", "f8e4m3fn", "i8", "i64", "i1", "u8")
        ),
        Sample({"values": ("tile<3xu8>", "i64")}, {"prefix": "bits", "hex": True}),
        Sample({"values": ("ptr<f32>", "tile<2xptr<f32>>")}, {"prefix": "at"}, comparable=False),
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, values: Any, prefix: str, hex: bool) -> None:
        elements = [element_of(value.type) for value in op.group("values")]
        machine.print(prefix, tuple(zip(values, elements, strict=True)), hex)


@op("debug.assert", since="0.1", profile="core", traits=(Trait.EFFECT,))
class Assert:
    """Stops with an error that names program, line and message if the condition is false in any active lane.

    Present only where the kernel was compiled for debugging. What other programs do after a failure is
    undefined.
    """

    condition = operand(Bool, doc="what must hold in every lane")
    mask = operand(Bool, doc="which lanes count, of the shape of the condition", optional=True)
    message = attribute(str, doc="what to say if it does not hold")
    function = attribute(str, doc="the name of the function that asserts", default="")
    constraints = (
        constraint(
            "C1",
            "mask is None or mask.shape == condition.shape",
            "mask and condition differ in shape",
            help="broadcast the mask to the shape of the condition",
            code="X0213",
        ),
    )
    samples = (
        Sample({"condition": "i1"}, {"message": "holds"}, {"condition": True}),
        Sample({"condition": "tile<5xi1>"}, {"message": "holds"}, {"condition": [True] * 5}),
        Sample(
            {"condition": "tile<2x3xi1>", "mask": "tile<2x3xi1>"},
            {"message": "holds where it counts"},
            {"condition": [[True, False, True], [True, True, False]], "mask": [[1, 0, 1], [0, 1, 0]]},
        ),
    )
    error_samples = (ErrorSample("C1", {"condition": "tile<4xi1>", "mask": "i1"}, {"message": "holds"}),)

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, condition: Any, mask: Any, message: str) -> None:
        machine.check(condition, mask, message)
