"""The text form round-trips: every op's samples, attribute values, names, locations."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest

from tests.unit.ir.helpers import DEFINITIONS, description, parse, sample_module
from xdsl_core import dtypes
from xdsl_core.diagnostics import UNKNOWN, CompilationError, Location
from xdsl_core.ir import (
    BufferType,
    Builder,
    Function,
    Module,
    PointerType,
    ScalarType,
    TileType,
    TokenType,
    parse_type,
    print_function,
    print_module,
    print_op,
)
from xdsl_core.opdef import OpDef
from xdsl_core.ops import Add, Constant, Return


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_samples_round_trip(definition: OpDef) -> None:
    for sample in definition.samples:
        module = sample_module(definition, sample)
        text = print_module(module)
        again = parse(text)
        assert description(again) == description(module)
        assert print_module(again) == text


ATTRIBUTES = [
    *(True, False, None, 0, 1, -7, 2**64 - 1, -(2**200)),
    *(0.0, -0.0, 1.0, -1.5, 1e-05, 1e16, 5e-324, 1.7976931348623157e308, 0.1, math.inf, -math.inf, math.nan),
    *(
        "",
        "plain",
        'quotes " and \\',
        "line\nbreak\ttab\0",
        "Gerät 瓦片 🙂",
        "// no comment",
        "}",
        *("\x7f\x85\u2028", "lone \ud800 surrogate"),
    ),
    *((), (1,), (1, (2.0, ("x",)), None), (True, 1, 1.0)),
    *({}, {"a": 1, "b c": {"d": (1,)}}, {"inf": 1, "nan": 2, "true": 3}),
    *dtypes.ALL,
    *(ScalarType(dtypes.i32), PointerType(dtypes.f32), PointerType(dtypes.f16, "shared"), TokenType()),
    *(
        TileType((4, 8), dtypes.bf16),
        TileType((3,), PointerType(dtypes.i1)),
        TileType((1,), PointerType(dtypes.u8, "l1")),
    ),
    *(
        BufferType((4, 8), dtypes.f16, "L0A", "zN"),
        BufferType((), dtypes.f32, "UB"),
        BufferType((2,), dtypes.u8, "a b", '"<>'),
    ),
]


@pytest.mark.parametrize("value", ATTRIBUTES, ids=repr)
def test_attribute_values_round_trip(value: object) -> None:
    module = Module(attributes={"value": value, "nested": (value, {"key": value})})
    text = print_module(module)
    assert text.encode("utf-8")
    assert description(parse(text)) == description(module)


@pytest.mark.parametrize(
    "bits", [0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF]
)
def test_nan_keeps_its_bits(bits: int) -> None:
    value = struct.unpack(">d", struct.pack(">Q", bits))[0]
    again = parse(print_module(Module(attributes={"x": value}))).attributes["x"]
    assert struct.unpack(">Q", struct.pack(">d", again))[0] == bits


def test_true_one_and_one_point_zero_stay_apart() -> None:
    values = parse(print_module(Module(attributes={"x": (True, 1, 1.0, False, 0, 0.0, -0.0)}))).attributes[
        "x"
    ]
    assert [type(value) for value in values] == [bool, int, float, bool, int, float, float]
    assert math.copysign(1.0, values[-1]) == -1.0


def test_value_without_text_form_is_refused() -> None:
    with pytest.raises(TypeError, match="no text form"):
        print_module(Module(attributes={"x": object()}))


NAMES = ["x", "x", "", "x", "x.1", "0", "7", "with space", 'quo"te', "ünïcode", "inf", "loc", "", "body", "²"]


def test_names_round_trip() -> None:
    function = Function("f", [(name, ScalarType(dtypes.i32)) for name in NAMES])
    Builder(function.block).build(Return)
    module = Module()
    module.add(function)
    text = print_module(module)
    again = parse(text)
    assert [value.name for value in again.functions["f"].parameters] == NAMES
    assert print_module(again) == text


@pytest.mark.parametrize("name", ["f", "kernel_1", "a.b$c", "with space", '"', "0start", "ünï"])
def test_function_names_round_trip(name: str) -> None:
    module = Module()
    Builder(module.add(Function(name, [], {"x": 1})).block).build(Return)
    assert list(parse(print_module(module)).functions) == [name]


READABLE = (Path(__file__).parent / "readable.tile").read_text(encoding="utf-8")

LOCATIONS = [
    UNKNOWN,
    Location("kernel.py", 3),
    Location("kernel.py", 3, 4, 3, 9),
    Location('odd "name".py', 3, 0, 5, 0, "softmax"),
    Location(
        "a.py",
        1,
        2,
        function="f",
        callers=(Location("b.py", 3, 4, 3, 6, "g", (Location("c.py", 9),)), UNKNOWN),
    ),
]


@pytest.mark.parametrize("location", LOCATIONS, ids=str)
def test_locations_round_trip(location: Location) -> None:
    function = Function("f", [], location=location)
    builder = Builder(function.block, location=location)
    builder.value(Constant, value=1, type=ScalarType(dtypes.i32))
    builder.build(Return)
    module = Module()
    module.add(function)
    again = parse(print_module(module, locations=True))
    assert description(again, locations=True) == description(module, locations=True)
    if location is UNKNOWN:
        assert all(op.location is UNKNOWN for op in again.walk())


def test_ops_without_location_stand_in_the_text() -> None:
    text = "module {\n  func @f() {\n    control.return\n  }\n}\n"
    function = parse(text).functions["f"]
    assert (function.location.line, function.location.column) == (2, 2)
    (op,) = function.walk()
    assert (op.location.file, op.location.line, op.location.column, op.location.end_column) == (
        "<text>",
        3,
        4,
        18,
    )


def test_readable_form() -> None:
    assert print_module(parse(READABLE)) == READABLE


def test_comments_blanks_and_sibling_names_are_free() -> None:
    module = parse(
        "// a comment\nmodule{func @f(%c:i1){ // another\n"
        "control.if %c then{%x=tile.constant{value=1,type=i32}:i32 control.yield}"
        "otherwise{%x=tile.constant{type=i32,value=2}:i32 control.yield} control.return}}"
    )
    assert "%x.1 = tile.constant {value = 2, type = i32} : i32" in print_module(module)


def test_attributes_that_equal_the_default_are_left_out() -> None:
    text = READABLE.replace('cache = ".ca"', 'cache = "", volatile = false')
    assert "memory.load %q, mask = %m, other = %acc : tile<8xf32>" in print_module(parse(text))


def test_function_and_op_print_alone() -> None:
    module = parse(READABLE)
    function = module.functions["add"]
    assert print_function(function).startswith("func @add(%x: ptr<f32> {divisible_by = 16}, %n: i32) {\n")
    store = next(op for op in function.walk() if op.name == "memory.store")
    assert print_op(store) == "memory.store %q, %r, mask = %m"


def test_broken_ir_still_prints() -> None:
    i32 = ScalarType(dtypes.i32)
    elsewhere = Function("g", [("far", i32)])
    function = Function("f", [])
    Builder(function.block).build(Add, *elsewhere.parameters * 2)
    assert "tile.add %far, %far : i32" in print_function(function)


TYPES = [
    value
    for value in ATTRIBUTES
    if isinstance(value, ScalarType | PointerType | TileType | BufferType | TokenType)
]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_types_round_trip(type: object) -> None:
    assert parse_type(str(type)) == type


NO_TYPES = (
    *("", "f33", "tile<f32>", "tile<4f32>", "tile<0xf32>", "tile<4xf32", "tile<4xtile<4xf32>>", "ptr<f32,>"),
    *("ptr<ptr<f32>>", "buffer<4xf32>", "tile<-1xf32>", "tile<4x8>", "tile<99999999999999999999xf32>"),
    *("f32 f32", "none"),
)


@pytest.mark.parametrize("text", NO_TYPES)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(CompilationError) as caught:
        parse_type(text)
    assert caught.value.code == "X0303"
