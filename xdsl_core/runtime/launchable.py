"""What kernels, heuristics and tuned kernels have in common: the spelling of a launch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl_core.backend import Profile
    from xdsl_core.runtime.compiled import CompiledKernel
    from xdsl_core.target import Target


class Launchable(ABC):
    """Something that runs over a grid."""

    name: str

    @property
    @abstractmethod
    def arg_names(self) -> list[str]:
        """The names of the parameters in order."""

    @abstractmethod
    def run(self, *args: Any, grid: Any, warmup: bool = False, **meta: Any) -> CompiledKernel | None:
        """Triton's other spelling of `kernel[grid](*args, **meta)`; `warmup` compiles without running."""

    @abstractmethod
    def compile(self, *args: Any, **meta: Any) -> CompiledKernel:
        """The kernel compiled for arguments, without running it."""

    @abstractmethod
    def profile(self, grid: Any, *args: Any, **meta: Any) -> Profile | None:
        """Runs the kernel once and says where the time went; None if an extent of the grid is zero."""

    @abstractmethod
    def on(self, target: str | Target) -> Launchable:
        """The same on another target."""

    @abstractmethod
    def current_target(self) -> Target:
        """Where the next launch would run."""

    @abstractmethod
    def identity(self) -> str | None:
        """Text that changes with anything that may change results or times; None if there is none."""

    def __getitem__(self, grid: Any) -> Callable[..., CompiledKernel | None]:
        """The launch over `grid`: a tuple or list of one to three extents, or a function of the arguments."""
        return partial(self.run, grid=grid)

    def warmup(self, *args: Any, grid: Any = None, **meta: Any) -> CompiledKernel:
        """Triton's name for `compile`; the grid is not looked at."""
        return self.compile(*args, **meta)


def function_text(function: Callable[..., Any]) -> str | None:
    """A function's code as text that is the same in every process; None if it depends on more."""
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__closure__", None):
        return None
    constants = [item for item in code.co_consts if not hasattr(item, "co_code")]
    return f"{code.co_code.hex()} {code.co_names} {constants!r}"
