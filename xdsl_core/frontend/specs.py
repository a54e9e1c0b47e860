"""What is known of each argument when a kernel is compiled."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

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


ArgumentSpec: TypeAlias = Constant | PointerSpec | ScalarSpec
