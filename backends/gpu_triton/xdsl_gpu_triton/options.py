"""Launch options of gpu_triton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl_core.backend import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class TritonOptions(Options):
    """Options that stock Triton takes; all others of Triton's that change no result are its defaults.

    `enable_fp_fusion` lets the compiler make one rounding of a product and a sum, which is faster and gives
    other results than the ops promise. `waves_per_eu` and `matrix_instr_nonkdim` are AMD's and ignored
    elsewhere. `timeout_seconds` is how long a launch on the target `interpret` may take before its process is
    stopped.
    """

    enable_fp_fusion: bool = False
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    timeout_seconds: float = 600.0

    def of_launch(self, vendor: str) -> dict[str, Any]:
        """The options as keyword arguments of a Triton launch on `vendor` ("cuda" or "hip")."""
        found: dict[str, Any] = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "debug": self.debug,
            "enable_fp_fusion": self.enable_fp_fusion,
        }
        if vendor == "cuda" and self.maxnreg is not None:
            found["maxnreg"] = self.maxnreg
        if vendor == "hip":
            found["waves_per_eu"] = self.waves_per_eu
            found["matrix_instr_nonkdim"] = self.matrix_instr_nonkdim
        return found
