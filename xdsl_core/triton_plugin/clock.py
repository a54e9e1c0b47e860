"""What benchmarks ask of a device, answered by this machine's clock."""

from __future__ import annotations

import time
from typing import Any


class Event:
    """A point in time, as torch.cuda.Event."""

    def __init__(self, enable_timing: bool = True, **_: Any) -> None:
        self.seconds = 0.0

    def record(self, stream: Any = None) -> None:
        self.seconds = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds."""
        return (end.seconds - self.seconds) * 1e3

    def synchronize(self) -> None:
        """Launches are over when they return."""


class Device:
    """A device module as torch.cuda is one, for a device whose launches are over when they return."""

    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Nothing is under way."""

    @staticmethod
    def current_device() -> int:
        return 0
