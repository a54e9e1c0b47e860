"""Values as kernels hold them: tensors (values of the IR) and what is known when compiling."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any, TypeAlias

from xdsl_core.ir.core import Value
from xdsl_core.language.types import dtype, language_type


class PropagateNan(Enum):
    """Whether NaN operands win (ALL) or lose (NONE) in minimum, maximum and clamp."""

    NONE = 0
    ALL = 1


class tensor:
    """A tile, a scalar or a pointer inside a kernel: a value of the IR with Triton's attributes."""

    __slots__ = ("handle",)

    def __init__(self, handle: Value) -> None:
        self.handle = handle

    @property
    def type(self) -> dtype:
        """The type: a block_type for tiles, else a dtype or pointer_type."""
        return language_type(self.handle.type)

    @property
    def dtype(self) -> dtype:
        """The type of an element."""
        return self.type.scalar

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents; () for scalars and pointers."""
        return self.handle.type.shape

    @property
    def numel(self) -> int:
        return prod(self.shape)

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class Composite:
    """A value made of other values: a block pointer, a tensor descriptor, an instance of an aggregate.

    Control flow carries its parts. A subclass gives them in a fixed order, and makes a value from others;
    what is no tensor in them never changes from one to the other.
    """

    __slots__ = ()

    def parts(self) -> tuple[Any, ...]:
        """The values it is made of."""
        raise NotImplementedError

    def with_parts(self, parts: Sequence[Any]) -> Any:
        """A value of the same kind made of other parts."""
        raise NotImplementedError

    def attribute(self, name: str) -> Any:
        """What `value.name` means in a kernel. AttributeError where there is none."""
        raise AttributeError(name)

    def method(self, name: str) -> Any:
        """The function that `value.name(...)` calls with the value first; None where there is none."""


class StatementScope:
    """What `with` takes in a kernel: statements that run where they stand, for a unit or under a wish."""


def parts_of(value: Any) -> tuple[Any, ...] | None:
    """What a tuple or a composite value is made of; None for everything else."""
    if isinstance(value, tuple):
        return tuple(value)
    return value.parts() if isinstance(value, Composite) else None


def with_parts(value: Any, parts: Sequence[Any]) -> Any:
    """A value of the kind of a tuple, a named tuple or a composite, made of other parts."""
    if isinstance(value, Composite):
        return value.with_parts(parts)
    make = getattr(type(value), "_make", tuple)
    return make(parts)


Number: TypeAlias = bool | int | float
Operand: TypeAlias = tensor | bool | int | float


def unwrap(value: Any) -> Any:
    """The Python value inside a constexpr, or the value itself."""
    while isinstance(value, constexpr):
        value = value.value
    return value


def _binary(operation: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], constexpr]:
    return lambda self, other: constexpr(operation(self.value, unwrap(other)))


def _reflected(operation: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], constexpr]:
    return lambda self, other: constexpr(operation(unwrap(other), self.value))


class constexpr:
    """A value known when compiling, with Python's arithmetic.

    As an annotation (`BLOCK: tl.constexpr`) it says that a parameter or a local name is compile-time; called
    on a value (`SIZE = tl.constexpr(64)`) it makes a global that kernels may read.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    __add__, __radd__ = _binary(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _binary(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow), _reflected(operator.pow)
    __lshift__, __rlshift__ = _binary(operator.lshift), _reflected(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift), _reflected(operator.rshift)
    __and__, __rand__ = _binary(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _binary(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _binary(operator.xor), _reflected(operator.xor)
    __lt__, __le__ = _binary(operator.lt), _binary(operator.le)
    __gt__, __ge__ = _binary(operator.gt), _binary(operator.ge)
    __eq__ = _binary(operator.eq)  # type: ignore[assignment]
    __ne__ = _binary(operator.ne)  # type: ignore[assignment]

    def __neg__(self) -> constexpr:
        return constexpr(-self.value)

    def __pos__(self) -> constexpr:
        return constexpr(+self.value)

    def __invert__(self) -> constexpr:
        return constexpr(~self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __getitem__(self, index: Any) -> Any:
        return self.value[unwrap(index)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __repr__(self) -> str:
        return f"constexpr[{self.value!r}]"


class const:
    """As an annotation: the pointer is only read from."""


@dataclass(frozen=True)
class constexpr_type:
    """The type of a compile-time value, which is the value itself."""

    value: Any


class slice:
    """`start:stop:step` as a value of a kernel; kernels write it as x[start:stop:step]."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


# The most elements that a tile may have, as in Triton.
TRITON_MAX_TENSOR_NUMEL = 1048576
