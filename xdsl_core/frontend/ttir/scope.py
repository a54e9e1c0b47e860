"""What a converter of one op sees: the values by name, the builder, and short ways to make ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl_core import ops
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.dtypes import DType
from xdsl_core.frontend.ttir.syntax import Tree, TreeFunction
from xdsl_core.frontend.ttir.types import UNSIGNED, UnknownType, read_type
from xdsl_core.ir import Block, Builder, Type, Value
from xdsl_core.ir.types import dtype_of, is_pointer, with_element


@dataclass
class Scope:
    """`values` are those visible here, by their names in the text."""

    builder: Builder
    functions: Mapping[str, TreeFunction]
    values: dict[str, Value] = field(default_factory=dict)

    def inner(self, block: Block) -> Scope:
        """The scope of a region's block: it sees what is visible here."""
        return Scope(Builder(block, location=self.builder.location), self.functions, dict(self.values))

    def operands(self, tree: Tree) -> list[Value]:
        return [self.values[name] for name in tree.operands]

    def result_type(self, tree: Tree, index: int = -1) -> Type:
        """The type of the result: what stands after the arrow, else the last type that is named."""
        texts = tree.result_types or tree.types
        try:
            return read_type(texts[index])
        except UnknownType as problem:
            raise unsupported(tree, f"values of type {problem}") from None

    def value(self, definition: Any, *operands: Value, **attributes: Any) -> Value:
        return self.builder.value(definition, *operands, **attributes)

    def constant(self, type: Type, number: float) -> Value:
        """The number in every lane of a value of this type."""
        dtype = dtype_of(type)
        kind = bool if dtype.is_bool else float if dtype.is_float else int
        return self.value(ops.Constant, value=kind(number), type=type)

    def cast(self, value: Value, to: DType, **attributes: Any) -> Value:
        """The value as elements of `to`; itself if it has that dtype."""
        same = dtype_of(value.type) == to
        return value if same else self.value(ops.Cast, value, to=to, **attributes)

    def unsigned(self, value: Value) -> Value:
        """The bits of integers read without a sign."""
        dtype = dtype_of(value.type)
        return self.value(ops.BitCast, value, to=UNSIGNED[dtype]) if dtype in UNSIGNED else value

    def signed(self, value: Value, like: Type) -> Value:
        """The bits as elements of `like`'s dtype."""
        dtype = dtype_of(like)
        return value if dtype_of(value.type) == dtype else self.value(ops.BitCast, value, to=dtype)

    def zero(self, type: Type) -> Value:
        """Zeros, or null pointers."""
        if is_pointer(type):
            from xdsl_core.dtypes import i64

            number = self.constant(with_element(type, i64), 0)
            return self.value(ops.IntToPointer, number, pointee=type.element.pointee)  # type: ignore[union-attr]
        return self.constant(type, 0)


Convert: TypeAlias = "Callable[[Scope, Tree], Sequence[Value]]"


def unsupported(tree: Tree, what: str = "", help: str = "") -> CompilationError:
    """X0851: an op, or a use of it, that has no counterpart."""
    message = f"{tree.name}: {what}" if what else f"{tree.name} has no counterpart in tile IR"
    hint = help or "say it with other ops of tl, or run the kernel through this package's own frontend"
    return CompilationError(error("X0851", message, location=tree.location, help=hint))
