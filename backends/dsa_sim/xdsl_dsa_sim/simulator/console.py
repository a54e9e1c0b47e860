"""What kernels print and assert while they run on the simulator."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from xdsl_core.diagnostics import UNKNOWN, ExecutionError, Location, error
from xdsl_core.dtypes import DType


@dataclass(slots=True)
class Console:
    """Prints go to `output` (by default standard output), each line with its program's place in the grid."""

    grid: tuple[int, int, int]
    output: TextIO | None = None
    program: int = 0
    location: Location = UNKNOWN

    def begin(self, program: int, location: Location) -> None:
        """Note which program and line what follows belongs to."""
        self.program, self.location = max(program, 0), location

    def place(self) -> tuple[int, int, int]:
        """The program's place in the grid."""
        x, y, _ = self.grid
        return self.program % x, self.program // x % y, self.program // (x * y)

    def print(self, prefix: str, value: Any, dtype: DType, hexadecimal: bool) -> None:
        """One line, as debug.print promises."""
        words = [f"({', '.join(map(str, self.place()))})", prefix]
        if value is not None:
            words.append(_text(value, dtype, hexadecimal))
        print(" ".join(filter(None, words)), file=self.output or sys.stdout)

    def check(self, condition: Any, active: Any, message: str) -> None:
        """ExecutionError X0405 unless the condition holds in all active lanes."""
        holds = np.asarray(condition).astype(bool) | ~np.asarray(active).astype(bool)
        if np.all(holds):
            return
        lane = tuple(map(int, np.argwhere(~holds)[0]))
        where = f"lane {lane}" if lane else "the value"
        raise ExecutionError(
            error(
                "X0405",
                f"assertion failed: {message}",
                location=self.location,
                label=f"false in {where}",
                note=f"in program {self.place()}",
            )
        )


def _text(value: Any, dtype: DType, hexadecimal: bool) -> str:
    array = np.asarray(value)
    if array.ndim:
        return "[" + " ".join(_text(part, dtype, hexadecimal) for part in array) + "]"
    number = array.item()
    if dtype.is_float:
        return f"{float(number):g}"
    if hexadecimal:
        return f"0x{int(number) & (1 << dtype.bits) - 1:0{max(1, dtype.bits // 4)}x}"
    return f"{int(number)}"
