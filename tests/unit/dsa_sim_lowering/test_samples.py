"""Samples of ops, lowered and run on the simulated machine, give what the reference gives."""

from __future__ import annotations

import io

import numpy as np
import pytest

from xdsl_core.interp.run import run
from xdsl_core.opdef import OpDef
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of, is_runnable
from xdsl_core.passes.pass_manager import run_pipeline
from xdsl_dsa_sim.isa import parse_program, print_program
from xdsl_dsa_sim.lowering.emit import emit
from xdsl_dsa_sim.machine import find_target
from xdsl_dsa_sim.pipeline import dsa_pipeline
from xdsl_dsa_sim.simulator.simulate import simulate

# Sums of narrow floats are rounded after each term, in an order that is free: in f8e5m2, whose unit roundoff
# is 1/8, the budget of a sum of 5 terms is 4 * sqrt(5) / 8 = 1.1; half of it is allowed here.
TOLERANCE = {8: 0.5, 16: 0.02, 32: 1e-4, 64: 1e-9}
RUNNABLE = [definition for definition in CORE if is_runnable(definition)]


@pytest.mark.parametrize("target", ["toy", "ascend910b2"])
@pytest.mark.parametrize("definition", RUNNABLE, ids=lambda definition: definition.name)
def test_samples_mean_what_the_reference_says(definition: OpDef, target: str) -> None:
    machine = find_target(target)
    # a few samples of each op from all over its list; the conformance suite runs every one
    step = max(1, len(definition.samples) // 4)
    for number, sample in list(enumerate(definition.samples))[::step]:
        case = case_of(definition, sample, seed=number)
        expected, found = case.fresh_arguments(), case.fresh_arguments()
        run(case.module.clone(), (1,), list(expected.values()), output=io.StringIO())
        module = run_pipeline(case.module.clone(), dsa_pipeline(machine, num_stages=2)).module
        program = parse_program(print_program(emit(module, machine)))
        simulate(program, machine, (1, 1, 1), list(found.values()), output=io.StringIO())
        for name in case.outputs:
            if expected[name].dtype.kind in "iub":
                np.testing.assert_array_equal(found[name], expected[name], err_msg=f"{sample} {name}")
            else:
                wide = [array[name].astype(np.float64) for array in (found, expected)]
                limit = TOLERANCE[expected[name].dtype.itemsize * 8]
                np.testing.assert_allclose(*wide, rtol=limit, atol=limit / 10, err_msg=f"{sample} {name}")
