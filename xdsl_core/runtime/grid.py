"""The grid of a launch: one to three extents, or a function of the arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl_core.diagnostics import LaunchError, error

GridLike: TypeAlias = "tuple[int, ...] | list[int] | Callable[[dict[str, Any]], tuple[int, ...]]"
LARGEST_EXTENT = 2**31 - 1


class ArgumentError(LaunchError, TypeError):
    """What was passed to a launch cannot be used; a TypeError too, as Python's own calls raise."""


def three_extents(grid: Any, kernel: str) -> tuple[int, int, int] | None:
    """The grid as three extents, None if one is zero; ArgumentError X0501 or X0502 if it is no grid."""
    if isinstance(grid, (tuple, list)) and 1 <= len(grid) <= 3:
        extents = [_extent(extent, axis, kernel) for axis, extent in enumerate(grid)]
        if 0 in extents:
            return None
        x, y, z = (*extents, 1, 1)[:3]
        return x, y, z
    help_ = (
        f"write kernel[({grid!r},)]" if hasattr(grid, "__index__") else "pass a tuple such as (n,) or (m, n)"
    )
    problem = error(
        "X0501",
        f"the grid of {kernel} is {grid!r:.60}, of type {type(grid).__name__}",
        requires="a tuple or list of one to three integers, or a function that returns one",
        help=help_,
    )
    raise ArgumentError(problem)


def call_grid(grid: Callable[[dict[str, Any]], Any], arguments: Mapping[str, Any]) -> Any:
    """What a grid function returns for the launch's arguments; a single integer counts as one extent."""
    found = grid(dict(arguments))
    return (found,) if hasattr(found, "__index__") else found


def _extent(extent: Any, axis: int, kernel: str) -> int:
    try:
        number = operator.index(extent)
    except TypeError:
        number = -1
    if 0 <= number <= LARGEST_EXTENT:
        return number
    problem = error(
        "X0502",
        f"extent {axis} of the grid of {kernel} is {extent!r}",
        requires=f"an integer from 0 to {LARGEST_EXTENT}",
        help="compute it with xdsl.cdiv(n, BLOCK)" if isinstance(extent, float) else "correct the grid",
    )
    raise ArgumentError(problem)
