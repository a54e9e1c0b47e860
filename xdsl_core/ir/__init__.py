"""The tile IR: types, values, ops, text form, verifier, rewriter. It knows ops only by their definitions."""

from xdsl_core.ir.builder import Builder
from xdsl_core.ir.core import Block, Function, Module, Op, Region, Value, clone_function, clone_op, clone_region
from xdsl_core.ir.schema import AttributeSchema, Definition, Definitions, OperandSchema, ResultSchema
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import (
    BOOL,
    BufferType,
    Element,
    PointerType,
    ScalarType,
    TileType,
    TokenType,
    Type,
    dtype_of,
    element_of,
    is_pointer,
    pointee_of,
    tile_or_scalar,
    with_element,
)

__all__ = [
    "BOOL",
    "AttributeSchema",
    "Block",
    "BufferType",
    "Builder",
    "Definition",
    "Definitions",
    "Element",
    "Function",
    "Module",
    "Op",
    "OperandSchema",
    "PointerType",
    "Region",
    "ResultSchema",
    "ScalarType",
    "TileType",
    "TokenType",
    "Trait",
    "Type",
    "Value",
    "clone_function",
    "clone_op",
    "clone_region",
    "dtype_of",
    "element_of",
    "is_pointer",
    "pointee_of",
    "tile_or_scalar",
    "with_element",
]
