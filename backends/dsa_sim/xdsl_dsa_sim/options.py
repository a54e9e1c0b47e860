"""Launch options of dsa_sim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl_core.backend import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class DsaOptions(Options):
    """Options of the simulator of accelerators.

    `num_stages` is how many iterations of a loop may be in flight at once where the loop itself says nothing:
    the parts of the buffers that its loads and stores use. `mode` is what is simulated: "both" values and
    cycles, "functional" values alone, "timing" cycles alone, which leaves results unwritten. `trace` keeps
    every event, for traces and timelines. num_warps, num_ctas and maxnreg have no meaning on these machines
    and change nothing."""

    mode: Literal["both", "functional", "timing"] = "both"
    trace: bool = False
