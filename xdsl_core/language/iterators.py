"""What `for` loops of kernels iterate over."""

from __future__ import annotations

from typing import Any


class range:  # noqa: N801 (a name of the language)
    """`for i in tl.range(start, end, step)`: Python's range, with hints for pipelining that backends may follow."""

    def __init__(
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
        self.bounds = (0, arg1, 1 if step is None else step) if arg2 is None else (arg1, arg2, 1 if step is None else step)
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


class static_range:  # noqa: N801
    """`for i in tl.static_range(start, end, step)`: unrolled when compiling; `i` is compile-time."""

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None) -> None:
        self.bounds = (0, arg1, 1 if step is None else step) if arg2 is None else (arg1, arg2, 1 if step is None else step)


class condition:  # noqa: N801
    """`while tl.condition(c, ...)`: the condition of a loop, with hints that backends may follow."""

    def __init__(self, arg1: Any, disable_licm: bool = False) -> None:
        self.condition = arg1
        self.disable_licm = disable_licm
