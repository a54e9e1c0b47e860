"""A kernel notices that something it was compiled with has been bound anew."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl


class Config:
    """Compile-time settings held by a class, as many projects keep them."""

    BLOCK: tl.constexpr = tl.constexpr(3)


@xdsl.jit
def store_block(out):
    tl.store(out, Config.BLOCK * 1)


def test_a_changed_class_attribute_compiles_anew() -> None:
    out = np.zeros(1, np.int32)
    store_block.on("reference")[(1,)](out)
    assert out[0] == 3
    Config.BLOCK = tl.constexpr(5)
    try:
        store_block.on("reference")[(1,)](out)
        assert out[0] == 5
    finally:
        Config.BLOCK = tl.constexpr(3)
