"""What autotune is told: the configs, and how to try them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Hook = Callable[..., None]


@dataclass(eq=False)
class Config:
    """One choice of constexpr arguments (`kwargs`) and options, with Triton's names and defaults.

    `pre_hook(arguments)` runs before every launch with this config; it gets all arguments by name.
    """

    kwargs: dict[str, Any]
    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    pre_hook: Hook | None = field(default=None, repr=False)

    def all_kwargs(self) -> dict[str, Any]:
        """What the config adds to a launch: its constexpr arguments and the options that are set."""
        options = {name: getattr(self, name) for name in ("num_warps", "num_ctas", "num_stages", "maxnreg")}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())


@dataclass(frozen=True)
class Settings:
    """The arguments of `autotune`."""

    configs: tuple[Config, ...]
    key: tuple[str, ...]
    prune: Mapping[str, Any]
    reset_to_zero: tuple[str, ...]
    restore_value: tuple[str, ...]
    pre_hook: Hook | None
    post_hook: Hook | None
    bench: Callable[[Callable[[], object]], Any]
    cache_results: bool
