"""What a benchmark compares: the same work done by us and by others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl_core.testing import Comparison

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Peers:
    """The packages that are there to compare with; None where one is not installed, or not asked for."""

    torch: Any = None
    numba: Any = None
    torch_compile: bool = False

    def compiled(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Call]:
        """The candidate that torch.compile makes of a function over torch tensors, if it was asked for."""
        if not self.torch_compile:
            return {}
        made = self.torch.compile(function)
        return {"torch.compile": lambda: made(*arguments)}


@dataclass(frozen=True, slots=True)
class Work:
    """One comparison: ours, the peers, what one call does, and a check of our result.

    `amount` is the number of operations or of bytes read and written; `amount_unit` says which.
    """

    ours: Call
    peers: Mapping[str, Call]
    check: Callable[[], Comparison]
    amount: float = 0.0
    amount_unit: str = field(default="GB/s", kw_only=True)
