"""What is known of each argument when a kernel is compiled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from xdsl_core.dtypes import DType


@dataclass(frozen=True, slots=True)
class Constant:
    """A value the kernel is compiled for: a constexpr argument, None, or an integer equal to 1."""

    value: Hashable


@dataclass(frozen=True, slots=True)
class PointerSpec:
    """A pointer to elements of a dtype, and whether its address is a multiple of 16 bytes."""

    element: DType
    divisible_by_16: bool = False


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A number passed at run time, and whether it is known to be a multiple of 16."""

    dtype: DType
    divisible_by_16: bool = False


@dataclass(frozen=True, slots=True)
class TupleKind:
    """A tuple, or a named tuple of a class."""

    type: type

    def make(self, parts: Sequence[Any]) -> Any:
        """The value in the kernel."""
        return getattr(self.type, "_make", tuple)(parts)

    def __str__(self) -> str:
        fields = getattr(self.type, "_fields", ())
        return f"{self.type.__module__}.{self.type.__qualname__}{fields}"


@dataclass(frozen=True, slots=True)
class DescriptorKind:
    """A tensor descriptor: the parts are the base, the extents and the strides."""

    block_shape: tuple[int, ...]
    padding: str

    def make(self, parts: Sequence[Any]) -> Any:
        """The value in the kernel."""
        from xdsl_core.language.tensor_descriptor import tensor_descriptor

        rank = len(self.block_shape)
        return tensor_descriptor(
            parts[0], tuple(parts[1 : 1 + rank]), tuple(parts[1 + rank :]), self.block_shape, self.padding
        )

    def __str__(self) -> str:
        return f"descriptor{self.block_shape}{self.padding}"


@dataclass(frozen=True, slots=True)
class CompositeSpec:
    """An argument made of others; `kind.make` makes the value in the kernel from theirs."""

    kind: TupleKind | DescriptorKind
    parts: tuple[ArgumentSpec, ...]


ArgumentSpec: TypeAlias = "Constant | PointerSpec | ScalarSpec | CompositeSpec"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A parameter of the compiled function: the part at `path` of the kernel's parameter `parameter`."""

    name: str
    parameter: str
    path: tuple[int, ...]
    spec: PointerSpec | ScalarSpec


def leaves(specs: Mapping[str, ArgumentSpec]) -> tuple[Leaf, ...]:
    """What is passed at run time, in order. A part of `x` is called x_0, x_1, ..."""
    found: list[Leaf] = []
    taken = set(specs)

    def visit(parameter: str, name: str, path: tuple[int, ...], spec: ArgumentSpec) -> None:
        if isinstance(spec, CompositeSpec):
            for place, part in enumerate(spec.parts):
                visit(parameter, f"{name}_{place}", (*path, place), part)
        elif not isinstance(spec, Constant):
            while path and name in taken:
                name += "_"
            taken.add(name)
            found.append(Leaf(name, parameter, path, spec))

    for parameter, spec in specs.items():
        visit(parameter, parameter, (), spec)
    return tuple(found)
