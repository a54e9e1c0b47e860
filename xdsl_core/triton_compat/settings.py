"""What the module tree was told when it was activated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(slots=True)
class Settings:
    """`benchmarks` is False where perf reports are left out; `device` is what scripts think they run on."""

    benchmarks: bool = True
    device: str = "cuda"


@cache
def settings() -> Settings:
    """The settings of the process."""
    return Settings()
