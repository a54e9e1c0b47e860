"""What scripts take from `triton._C.libtriton`: the vendor's matrix product to compare with, here torch's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class CublasLt:
    """The vendor's library; `workspace` is not used."""

    def __init__(self, workspace: Any) -> None:
        self.workspace = workspace

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """c = a @ b.T, computed in float32 and rounded to c's dtype."""
        c.copy_(a.float() @ b.float().T)


nvidia = SimpleNamespace(cublas=SimpleNamespace(CublasLt=CublasLt))
amd = SimpleNamespace(hipblas=SimpleNamespace(HipblasLt=CublasLt))
