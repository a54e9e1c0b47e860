"""What counts as right: budgets, and the sign of zero."""

from __future__ import annotations

import numpy as np
import pytest

from xdsl_conformance.numerics import distance, worst
from xdsl_core.ops import CORE


@pytest.mark.parametrize("budget", [0.0, 1e-3])
@pytest.mark.parametrize(("got", "expected"), [(0.0, -0.0), (-0.0, 0.0)])
def test_a_zero_of_the_wrong_sign_is_wrong_whatever_the_budget(
    got: float, expected: float, budget: float
) -> None:
    arrays = [np.array([value], np.float32) for value in (got, expected)]
    assert distance(*arrays, np.array([budget]), free_sign=False).tolist() == [np.inf]
    assert distance(*arrays, np.array([budget]), free_sign=True).tolist() == [0.0]


def test_within_the_budget_a_number_may_be_on_the_other_side_of_zero() -> None:
    got, expected = np.array([-0.0], np.float32), np.array([1e-45], np.float32)
    assert distance(got, expected, np.array([1e-3]), free_sign=False)[0] < 1.0


def test_a_mismatch_says_where_and_what_in_plain_numbers() -> None:
    got, expected = np.array([[True, False]]), np.array([[True, True]])
    errors = distance(got, expected, np.zeros(got.shape), free_sign=False)
    text = str(worst("out", errors, got, expected))
    assert text == "out[0, 1] is False, expected True: nothing else will do; 1 wrong"
    near = np.array([1.0 + 2**-20], np.float32)
    errors = distance(near, np.ones(1, np.float32), np.array([2.0**-22]), free_sign=False)
    text = str(worst("out", errors, near, np.ones(1, np.float32)))
    assert text == "out[0] is 1.000001, expected 1.0: 4 budgets off; 1 wrong"


def test_ops_state_whether_the_sign_of_zero_is_free() -> None:
    free = {definition.name for definition in CORE if definition.sign_of_zero_is_free}
    assert {"tile.max", "tile.reduce_sum", "tile.dot"} <= free
    assert not {"tile.tanh", "tile.erf", "tile.sinh", "tile.mul", "tile.constant"} & free
    for name in free:
        text = " ".join(CORE[name].doc.split()).lower()
        assert any(words in text for words in ("sign of zero", "sign of a zero", "zeros of both signs")), name
