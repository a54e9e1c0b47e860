"""What the IR knows of an op's definition: its name, the names and kinds of its parts, its traits.

`xdsl_core.opdef` makes these from class bodies; the IR only reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type

if TYPE_CHECKING:
    from xdsl_core.diagnostics import Diagnostic
    from xdsl_core.ir.core import Op, Value


@dataclass(frozen=True, slots=True)
class OperandSchema:
    """An operand slot: exactly one value, at most one (`optional`) or any number (`variadic`)."""

    name: str
    optional: bool = False
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """An attribute with the Python types its values may have; `default` is not printed."""

    name: str
    kinds: tuple[type, ...]
    required: bool = True
    default: Any = None


@dataclass(frozen=True, slots=True)
class ResultSchema:
    """A result, or any number of them (`variadic`, then the only one)."""

    name: str
    variadic: bool = False


class Definition(Protocol):
    """An op's definition as the IR sees it."""

    @property
    def name(self) -> str: ...
    @property
    def operand_schema(self) -> tuple[OperandSchema, ...]: ...
    @property
    def attribute_schema(self) -> tuple[AttributeSchema, ...]: ...
    @property
    def result_schema(self) -> tuple[ResultSchema, ...]: ...
    @property
    def region_names(self) -> tuple[str, ...]: ...
    @property
    def traits(self) -> frozenset[Trait]: ...
    def infer(
        self, operands: Sequence[Sequence[Value]], attributes: Mapping[str, Any], regions: Sequence[Any]
    ) -> tuple[Type, ...]: ...
    def verify(self, op: Op) -> list[Diagnostic]: ...
    def __hash__(self) -> int: ...


class Definitions(Protocol):
    """A set of definitions that can be asked by name."""

    def get(self, name: str) -> Definition | None: ...
    def names(self) -> tuple[str, ...]: ...
