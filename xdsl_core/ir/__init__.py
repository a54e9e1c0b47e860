"""The tile IR: types, values, ops, text form, verifier, rewriter. It knows ops only by their definitions."""

from xdsl_core.ir.builder import Builder
from xdsl_core.ir.core import (
    Block,
    Function,
    Module,
    Op,
    Region,
    Value,
    clone_function,
    clone_op,
    clone_region,
)
from xdsl_core.ir.mlir import print_mlir
from xdsl_core.ir.parser import parse_module
from xdsl_core.ir.printer import print_function, print_module, print_op
from xdsl_core.ir.rewriter import Pattern, Rewriter, apply_patterns
from xdsl_core.ir.schema import AttributeSchema, Definition, Definitions, OperandSchema, ResultSchema
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.type_text import parse_type
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
from xdsl_core.ir.verifier import verify, verify_function

__all__ = [
    "AttributeSchema",
    "BOOL",
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
    "Pattern",
    "PointerType",
    "Region",
    "ResultSchema",
    "Rewriter",
    "ScalarType",
    "TileType",
    "TokenType",
    "Trait",
    "Type",
    "Value",
    "apply_patterns",
    "clone_function",
    "clone_op",
    "clone_region",
    "dtype_of",
    "element_of",
    "is_pointer",
    "parse_module",
    "parse_type",
    "pointee_of",
    "print_function",
    "print_mlir",
    "print_module",
    "print_op",
    "tile_or_scalar",
    "verify",
    "verify_function",
    "with_element",
]
