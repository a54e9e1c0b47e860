"""MLIR's generic form is read by an independent parser, and says the same."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.unit.ir.helpers import DEFINITIONS, parse, sample_module
from tests.unit.ir.test_text import READABLE
from xdsl_core import dtypes
from xdsl_core.diagnostics import Location
from xdsl_core.ir import (
    BufferType,
    Builder,
    Function,
    Module,
    PointerType,
    ScalarType,
    TileType,
    TokenType,
    print_mlir,
)
from xdsl_core.ir.mlir import mlir_attribute, mlir_location, mlir_type
from xdsl_core.opdef import OpDef
from xdsl_core.ops import Constant, Return

pytest.importorskip("xdsl", reason="the PyPI package xdsl parses MLIR")


def read(text: str) -> Any:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.parser import Parser

    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    return Parser(context, text).parse_module()


def op_names(module: Module) -> list[str]:
    return [op.name for op in module.walk()]


def read_names(module: Any) -> list[str]:
    """Names of all ops inside functions, outermost first."""
    names = []
    for op in module.walk():
        name = op.op_name.data if op.name == "builtin.unregistered" else op.name
        if name not in ("builtin.module", "func.func"):
            names.append(name)
    return names


# one sample a definition: the other parser is slow, and the text depends little on the data
@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_every_op_is_read(definition: OpDef) -> None:
    module = sample_module(definition, definition.samples[0])
    assert read_names(read(print_mlir(module))) == op_names(module)


def test_whole_kernel_is_read() -> None:
    module = parse(READABLE)
    again = read(print_mlir(module))
    assert read_names(again) == op_names(module)
    function = again.ops.first
    assert function.sym_name.data == "add"
    assert [str(type) for type in function.function_type.inputs] == ['!tile.ptr<f32, "global">', "i32"]
    again.verify()


TYPES = {
    "i32": ScalarType(dtypes.i32),
    "i1": ScalarType(dtypes.i1),
    "ui8": ScalarType(dtypes.u8),
    "ui64": ScalarType(dtypes.u64),
    "bf16": ScalarType(dtypes.bf16),
    "f8E4M3FN": ScalarType(dtypes.f8e4m3fn),
    "f8E4M3FNUZ": ScalarType(dtypes.f8e4m3fnuz),
    "f8E4M3B11FNUZ": ScalarType(dtypes.f8e4m3b11fnuz),
    "f8E5M2": ScalarType(dtypes.f8e5m2),
    "f8E5M2FNUZ": ScalarType(dtypes.f8e5m2fnuz),
    "tensor<4x8xf32>": TileType((4, 8), dtypes.f32),
    "tensor<3xui16>": TileType((3,), dtypes.u16),
    '!tile.ptr<f32, "global">': PointerType(dtypes.f32),
    'tensor<4x!tile.ptr<ui8, "l1">>': TileType((4,), PointerType(dtypes.u8, "l1")),
    '!tile.buffer<4x8xf16, "L0A", "zN">': BufferType((4, 8), dtypes.f16, "L0A", "zN"),
    "!tile.token": TokenType(),
}


@pytest.mark.parametrize(("text", "type"), TYPES.items(), ids=TYPES)
def test_type_spelling(text: str, type: Any) -> None:
    assert mlir_type(type) == text
    function = Function("f", [("x", type)])
    Builder(function.block).build(Return)
    module = Module()
    module.add(function)
    assert [str(found) for found in read(print_mlir(module)).ops.first.function_type.inputs] == [text]


VALUES = {
    "true": True,
    "7 : i64": 7,
    "-9223372036854775808 : i64": -(2**63),
    "18446744073709551615 : ui64": 2**64 - 1,
    "-0.0 : f64": -0.0,
    "1.0e-05 : f64": 1e-05,
    "1.0e+16 : f64": 1e16,
    "0x7FF8000000000000 : f64": math.nan,
    "0xFFF0000000000000 : f64": -math.inf,
    '"line\\0Abreak \\22quoted\\22 \\5C"': 'line\nbreak "quoted" \\',
    "[1 : i64, f32]": (1, dtypes.f32),
    "unit": None,
    '{a = 1 : i64, "b c" = true}': {"a": 1, "b c": True},
    "tensor<2xf32>": TileType((2,), dtypes.f32),
}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=VALUES)
def test_attribute_spelling(text: str, value: Any) -> None:
    assert mlir_attribute(value) == text
    module = Module(attributes={"x": value})
    assert "tile.x" in read(print_mlir(module)).attributes


def test_constants_keep_their_value() -> None:
    function = Function("f", [])
    builder = Builder(function.block)
    builder.value(Constant, value=0.1, type=ScalarType(dtypes.f64))
    builder.build(Return)
    module = Module()
    module.add(function)
    constant = read(print_mlir(module)).ops.first.body.block.ops.first
    assert constant.attributes["value"].value.data == 0.1


def test_locations() -> None:
    inner = Location("a.py", 3, 4, function="f", callers=(Location("b.py", 7, 0),))
    assert mlir_location(inner) == 'loc(callsite("a.py":3:5 at "b.py":7:1))'
    function = Function("f", [], location=Location("a.py", 1))
    Builder(function.block, location=inner).build(Return)
    module = Module()
    module.add(function)
    assert read_names(read(print_mlir(module))) == ["control.return"]
    assert "loc(" not in print_mlir(module, locations=False)
