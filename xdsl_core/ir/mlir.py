"""MLIR's generic form of a module, for tools that read MLIR (with unregistered dialects allowed).

Tiles become tensors, unsigned integers ui8 to ui64, pointers `!tile.ptr<f32, "global">`, buffers
`!tile.buffer<...>`. Kernels become `func.func`, every op is printed as `"family.name"(...)`. The syntax is
that of the MLIR Language Reference (mlir.llvm.org/docs/LangRef).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Block, Function, Module, Op, Region, Value
from xdsl_core.ir.printer import ValueNames
from xdsl_core.ir.types import BufferType, PointerType, ScalarType, TileType, TokenType, Type

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FP8 = re.compile(r"f8e(\d)m(\d)(b11)?(fnuz|fn)?")


def print_mlir(module: Module, *, locations: bool = True) -> str:
    """The module in MLIR's generic form; ops carry `loc(...)` unless told otherwise."""
    lines = ['"builtin.module"() ({']
    for function in module.functions.values():
        _Printer(lines, locations).function(function)
    attributes = _dictionary(_all_prefixed(module.attributes))
    lines.append(f"}}) {attributes} : () -> ()" if module.attributes else "}) : () -> ()")
    return "\n".join(lines) + "\n"


def mlir_type(type: Type) -> str:
    """The MLIR spelling of a type."""
    if isinstance(type, ScalarType):
        return _element(type.element)
    if isinstance(type, PointerType):
        return _element(type)
    if isinstance(type, TileType):
        return f"tensor<{'x'.join(map(str, type.shape))}x{_element(type.element)}>"
    if isinstance(type, BufferType):
        extents = "".join(f"{extent}x" for extent in type.shape)
        space, layout = _string(type.space), _string(type.layout)
        return f"!tile.buffer<{extents}{_element(type.element)}, {space}, {layout}>"
    return "!tile.token"


def mlir_attribute(value: Any) -> str:
    """The MLIR spelling of an attribute value."""
    printer = _ATTRIBUTES.get(type(value))
    if printer is None:
        printer = next(use for kind, use in _ATTRIBUTES.items() if isinstance(value, kind))
    return printer(value)


def mlir_location(location: Location) -> str:
    """`loc("kernel.py":12:9)`, inside `callsite(... at ...)` where functions were inlined."""
    return f"loc({_location(location)})"


def _location(location: Location) -> str:
    if location == UNKNOWN:
        return "unknown"
    text = f"{_string(location.file)}:{location.line}:{location.column + 1}"
    for caller in location.callers:
        text = f"callsite({text} at {_string(caller.file)}:{caller.line}:{caller.column + 1})"
    return text


class _Printer:
    """Writes the lines of one function."""

    def __init__(self, lines: list[str], locations: bool) -> None:
        self.write = lines.append
        self.locations = locations
        self.names = ValueNames(_NAME)

    def function(self, function: Function) -> None:
        types = ", ".join(mlir_type(value.type) for value in function.parameters)
        properties = {"function_type": f"({types}) -> ()", "sym_name": _string(function.name)}
        if any(function.parameter_attributes):
            hints = tuple(map(_all_prefixed, function.parameter_attributes))
            properties["arg_attrs"] = mlir_attribute(hints)
        inside = ", ".join(f"{key} = {value}" for key, value in properties.items())
        self.write(f'  "func.func"() <{{{inside}}}> ({{')
        self.region(function.body, "  ", labelled=True)
        tail = "  })"
        if function.attributes:
            tail += f" {_dictionary(_all_prefixed(function.attributes))}"
        self.write(f"{tail} : () -> (){self.place(function.location)}")

    def region(self, region: Region, indent: str, *, labelled: bool = False) -> None:
        for number, block in enumerate(region.blocks):
            if labelled or number or block.arguments:
                arguments = ", ".join(f"{self.name(v)}: {mlir_type(v.type)}" for v in block.arguments)
                self.write(f"{indent}^bb{number}({arguments}):")
            self.block(block, indent + "  ")

    def block(self, block: Block, indent: str) -> None:
        for op in block.ops:
            self.op(op, indent)

    def op(self, op: Op, indent: str) -> None:
        operands = ", ".join([self.names[value] for value in op.operands])
        results = ", ".join(map(self.name, op.results))
        head = (
            f'{indent}{results} = "{op.name}"({operands})' if results else f'{indent}"{op.name}"({operands})'
        )
        head += self.properties(op)
        if op.regions:
            for number, region in enumerate(op.regions):
                self.write(f"{head} ({{" if not number else f"{indent}}}, {{")
                self.region(region, indent)
            head = f"{indent}}})"
        attributes = f" {_dictionary(op.attributes)}" if op.attributes else ""
        self.write(f"{head}{attributes} : {self.signature(op)}{self.place(op.location)}")

    def properties(self, op: Op) -> str:
        """Which operands belong to which slot, where that is not plain to see."""
        slots = op.definition.operand_schema
        if len(slots) < 2 or not any(slot.optional or slot.variadic for slot in slots):
            return ""
        return f" <{{operandSegmentSizes = array<i32: {', '.join(map(str, op.segments))}>}}>"

    def signature(self, op: Op) -> str:
        operands = ", ".join([mlir_type(value.type) for value in op.operands])
        results = ", ".join([mlir_type(value.type) for value in op.results])
        return f"({operands}) -> {results}" if len(op.results) == 1 else f"({operands}) -> ({results})"

    def place(self, location: Location) -> str:
        return f" {mlir_location(location)}" if self.locations else ""

    def name(self, value: Value) -> str:
        return self.names.define(value)


def _element(element: DType | PointerType) -> str:
    if isinstance(element, PointerType):
        return f"!tile.ptr<{_element(element.pointee)}, {_string(element.space)}>"
    if element.kind == "uint":
        return f"ui{element.bits}"
    if match := _FP8.fullmatch(element.name):
        return f"f8E{match[1]}M{match[2]}{(match[3] or '').upper()}{(match[4] or '').upper()}"
    return element.name


def _string(text: str) -> str:
    escaped = (f"\\{ord(c):02X}" if c in '"\\' or ord(c) < 32 or ord(c) == 127 else c for c in text)
    return f'"{"".join(escaped)}"'


def _all_prefixed(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes on another dialect's ops (functions, modules) have to name the dialect they belong to."""
    return {key if "." in key else f"tile.{key}": value for key, value in attributes.items()}


def _dictionary(attributes: Mapping[str, Any]) -> str:
    entries = (
        f"{key if _KEY.fullmatch(key) else _string(key)} = {mlir_attribute(value)}"
        for key, value in attributes.items()
    )
    return "{" + ", ".join(entries) + "}"


def _integer(value: int) -> str:
    if -(2**63) <= value < 2**63:
        return f"{value} : i64"
    return f"{value} : ui64" if 0 <= value < 2**64 else f"{value} : i{value.bit_length() + 1}"


def _float(value: float) -> str:
    if not math.isfinite(value):
        return f"0x{struct.pack('>d', value).hex().upper()} : f64"
    text = float.__repr__(value)
    mantissa, mark, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}{mark}{exponent} : f64"


_ATTRIBUTES: Mapping[type, Callable[[Any], str]] = MappingProxyType(
    {
        bool: lambda value: "true" if value else "false",
        int: _integer,
        float: _float,
        str: _string,
        tuple: lambda value: f"[{', '.join(map(mlir_attribute, value))}]",
        type(None): lambda value: "unit",
        DType: _element,
        dict: _dictionary,
        MappingProxyType: _dictionary,
        **dict.fromkeys((ScalarType, PointerType, TileType, BufferType, TokenType), mlir_type),
    }
)
