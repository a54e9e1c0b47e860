"""What the module tree was told when it was activated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl_core.triton_compat.processor import CAPABILITY


@dataclass(slots=True)
class Settings:
    """`benchmarks` is False where perf reports are left out.

    `device` is what scripts think they run on: "cpu", "cuda", or "cuda:90" for compute capability 9.0.
    """

    benchmarks: bool = True
    device: str = "cuda"

    @property
    def kind(self) -> str:
        """Triton's name of the kind of device."""
        return self.device.partition(":")[0]

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability of the GPU that scripts think of."""
        number = self.device.partition(":")[2]
        return divmod(int(number), 10) if number else CAPABILITY


@cache
def settings() -> Settings:
    """The settings of the process."""
    return Settings()
