"""Questions about what code is made for. A kernel here is made for any backend: the answers are no."""

from __future__ import annotations

from xdsl_core.language.builtin import constexpr_function


@constexpr_function
def current_target() -> None:
    """Nothing: the target of a launch is chosen after the kernel is turned into IR."""
    return


@constexpr_function
def is_cuda() -> bool:
    """Whether only CUDA devices matter."""
    return False


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether only CUDA devices of a compute capability matter."""
    return False


@constexpr_function
def is_hip() -> bool:
    """Whether only AMD's devices matter."""
    return False


is_hip_cdna3 = is_hip_cdna4 = is_hip_gfx1250 = is_hip
