"""Which Triton is installed, found without importing it, and where its versions differ."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from importlib import metadata
from types import MappingProxyType

OLDEST = (3, 6)
FIX = 'pip install "xdsl-core[triton]"'


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that Triton does from version `since` on; `before` says what it does before."""

    since: tuple[int, int]
    before: str


# Differences that generated code depends on, or that decide what is refused.
DIFFERENCES = MappingProxyType(
    {
        "interpreter_fma_rounds_once": Difference((3, 9), "the interpreter rounds product and sum"),
        "interpreter_minimum_skips_nan": Difference((3, 9), "minimum and maximum give NaN (mended by us)"),
        "interpreter_atomics_of_f64": Difference((3, 9), "the interpreter takes f64 for integers in min"),
        "interpreter_has_fnuz": Difference((3, 9), "the interpreter does not know the fnuz kinds of fp8"),
        "negation_keeps_zeros": Difference((3, 9), "-x is 0 - x, so the negative of 0.0 is 0.0"),
        "sum_keeps_bfloat16": Difference((3, 9), "sums and scans of bfloat16 give float32"),
        "driver_without_torch": Difference((3, 8), "launches on CUDA need torch"),
        "interpreter_takes_numpy_2_4": Difference((3, 7), "a loop over a run-time range fails"),
    }
)


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed Triton: its version as text and as numbers."""

    text: str
    numbers: tuple[int, int]

    def has(self, difference: str) -> bool:
        """Whether this version does what a row of DIFFERENCES says."""
        return self.numbers >= DIFFERENCES[difference].since


def installed_triton() -> Installed | None:
    """The installed Triton, or None."""
    if importlib.util.find_spec("triton") is None:
        return None
    try:
        text = metadata.version("triton")
    except metadata.PackageNotFoundError:
        return None
    return Installed(text, parse_version(text))


def parse_version(text: str) -> tuple[int, int]:
    """Major and minor number of a version; (0, 0) if it has none."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
