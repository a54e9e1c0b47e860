"""Parameters of kernels may be called like registers of the machine."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl


@xdsl.jit
def registers_kernel(programs, groups, core, groups_, grid_x, workspace):
    total = core + 10 * groups_ + 100 * grid_x + 1000 * workspace
    for group in range(groups):
        tl.store(programs + group, total + group)


def test_parameters_hide_no_register_of_the_machine() -> None:
    out = np.zeros(4, np.int32)
    registers_kernel.on("dsa_sim:toy")[(3,)](out, 3, 1, 2, 3, 4)
    assert out.tolist() == [4321, 4322, 4323, 0]
