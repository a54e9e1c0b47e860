"""What counts as right: budgets, and the sign of zero."""

from __future__ import annotations

import numpy as np
import pytest

from xdsl_conformance.numerics import distance
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


def test_ops_state_whether_the_sign_of_zero_is_free() -> None:
    free = {definition.name for definition in CORE if definition.sign_of_zero_is_free}
    assert {"tile.max", "tile.reduce_sum", "tile.dot"} <= free
    assert not {"tile.tanh", "tile.erf", "tile.sinh", "tile.mul", "tile.constant"} & free
    for name in free:
        text = " ".join(CORE[name].doc.split()).lower()
        assert any(words in text for words in ("sign of zero", "sign of a zero", "zeros of both signs")), name
