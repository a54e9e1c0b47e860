"""What `for` loops of kernels iterate over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl_core.language.context import fail


class _Counter:
    """From a start to an end in steps; `tl.range(end)` starts at 0."""

    def __init__(self, arg1: Any, arg2: Any, step: Any) -> None:
        start, end = (0, arg1) if arg2 is None else (arg1, arg2)
        self.bounds = (start, end, 1 if step is None else step)

    def __iter__(self) -> Iterator[Any]:
        raise fail("X0101", f"tl.{type(self).__name__} is used outside a kernel", help="use Python's range")


class range(_Counter):
    """`for i in tl.range(start, end, step)`: Python's range, with hints that backends may follow."""

    def __init__(  # noqa: PLR0917 (Triton's signature)
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: int | None = None,
        loop_unroll_factor: int | None = None,
        disallow_acc_multi_buffer: bool = False,
        flatten: bool = False,
        warp_specialize: bool = False,
        disable_licm: bool = False,
    ) -> None:
        super().__init__(arg1, arg2, step)
        self.hints: dict[str, int | bool] = {
            name: value
            for name, value in (
                ("num_stages", num_stages),
                ("loop_unroll_factor", loop_unroll_factor),
                ("disallow_acc_multi_buffer", disallow_acc_multi_buffer),
                ("flatten", flatten),
                ("warp_specialize", warp_specialize),
                ("disable_licm", disable_licm),
            )
            if value is not None and value is not False
        }


class static_range(_Counter):
    """`for i in tl.static_range(start, end, step)`: unrolled when compiling; `i` is compile-time."""

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None) -> None:
        super().__init__(arg1, arg2, step)


class condition:
    """`while tl.condition(c, ...)`: the condition of a loop, with hints that backends may follow."""

    def __init__(self, arg1: Any, disable_licm: bool = False) -> None:
        self.condition = arg1
        self.disable_licm = disable_licm
