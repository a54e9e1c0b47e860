"""What the units of a target are not made for, and how it is computed all the same."""

from __future__ import annotations

from xdsl_core import dtypes
from xdsl_core.target import TargetDescription


def notes(target: TargetDescription) -> tuple[str, ...]:
    """One line for what the vector unit, and one for what the matrix unit has no lanes for."""
    found = []
    names = [dtype.name for dtype in dtypes.ALL]
    # a cost class that is a dtype stands for everything the unit computes on it
    slow = [name for name in names if any(name in unit.costs for unit in target.units("vector"))]
    if slow:
        found.append(
            f"vector unit: {', '.join(slow)} one element at a time, with the costs of the scalar unit"
        )
    multiplied = {fractal.dtype for unit in target.units("matrix") for fractal in unit.fractals}
    others = [name for name in names if name not in multiplied and name != "i1"]
    if others:
        found.append(f"matrix products of {', '.join(others)} are sums of products on the vector unit")
    return tuple(found)
