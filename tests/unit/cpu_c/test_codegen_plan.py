"""Which values get buffers and which loops are shared: each plan is stated, and its kernel run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.cpu_c.kernels import Workshop
from tests.unit.cpu_c.planning import Checked

pytestmark = pytest.mark.compiler


@pytest.fixture
def checked(workshop: Workshop) -> Checked:
    return Checked(workshop)


def floats(*sizes: int) -> list[Any]:
    """Arrays of small whole numbers: sums and products of few of them are exact."""
    generator = np.random.default_rng(0)
    return [generator.integers(-8, 9, size).astype(np.float32) for size in sizes]


LANES = "lanes = tl.arange(0, 50)\n"
BLOCK = (
    "rows = tl.arange(0, 9)\ncolumns = tl.arange(0, 9)\nplaces = x + rows[:, None] * 9 + columns[None, :]\n"
)


# Fusion


def test_stores_of_one_shape_share_a_loop(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(y + lanes, v + 1)\ntl.store(z + lanes, v * 2)"
    plan, buffers, _ = checked(body, "x, y, z", lambda: floats(50, 50, 50))
    assert plan == ["store store"]
    assert not buffers


def test_reductions_and_what_they_reduce_share_a_loop(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(y, tl.sum(v, 0))\ntl.store(y + 1, tl.max(v, 0))"
    plan, buffers, _ = checked(body, "x, y", lambda: floats(50, 2))
    assert plan == ["reduce", "reduce"] or plan == ["reduce reduce"]
    assert not buffers


def test_what_needs_the_whole_reduction_is_a_loop_of_its_own(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(y + lanes, v - tl.max(v, 0))"
    plan, buffers, _ = checked(body, "x, y", lambda: floats(50, 50))
    assert plan == ["reduce", "store"]
    assert not buffers


def test_costly_values_of_two_loops_get_a_buffer(checked: Checked) -> None:
    body = f"{LANES}v = tl.sqrt(tl.abs(tl.load(x + lanes)))\ntl.store(y + lanes, v - tl.max(v, 0))"
    plan, buffers, _ = checked(body, "x, y", lambda: floats(50, 50))
    assert plan[-1] == "store"
    assert buffers == {"v"}


def test_cheap_values_are_computed_again(checked: Checked) -> None:
    body = f"{LANES}v = lanes * n\ntl.store(y + lanes, v - tl.max(v, 0))"
    plan, buffers, _ = checked(body, "y, n", lambda: [np.zeros(50, np.int32), 3])
    assert plan == ["reduce", "store"]
    assert not buffers


def test_other_shapes_are_other_loops(checked: Checked) -> None:
    body = "tl.store(x + tl.arange(0, 7), 1.0)\ntl.store(y + tl.arange(0, 9), 2.0)"
    plan, _, _ = checked(body, "x, y", lambda: floats(7, 9))
    assert plan == ["store", "store"]


# Hazards


def test_in_place_needs_no_buffer(checked: Checked) -> None:
    body = f"{LANES}tl.store(x + lanes, tl.load(x + lanes) * 2)"
    plan, buffers, _ = checked(body, "x", lambda: floats(50))
    assert plan == ["store"]
    assert not buffers


@pytest.mark.parametrize("shift", [1, -1, 8])
def test_shifted_overlap_reads_all_before_it_writes(shift: int, checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + 10 + lanes)\ntl.store(x + 10 + {shift} + lanes, v)"
    plan, buffers, _ = checked(body, "x", lambda: floats(70))
    assert buffers == {"v"}
    assert plan == ["materialise:v", "store"]


def test_in_place_transposition_reads_all_before_it_writes(checked: Checked) -> None:
    """Same addresses, other lanes."""
    body = f"{BLOCK}v = tl.load(places)\ntl.store(places, tl.trans(v))"
    plan, buffers, _ = checked(body, "x", lambda: floats(81))
    assert buffers == {"v"}
    assert plan == ["materialise:v", "store"]


def test_sum_with_the_transposed_in_place(checked: Checked) -> None:
    body = f"{BLOCK}v = tl.load(places)\ntl.store(places, v + tl.trans(v))"
    plan, buffers, _ = checked(body, "x", lambda: floats(81))
    assert buffers == {"v"}
    assert plan == ["materialise:v", "store"]


def test_lanes_that_meet_read_all_before_they_write(checked: Checked) -> None:
    """All lanes write the one sum; a later lane must not read what an earlier one wrote."""
    body = f"{LANES}v = tl.load(x + lanes * 0)\ntl.store(x + lanes * 0, v + 1)"
    _, buffers, _ = checked(body, "x", lambda: floats(1))
    assert buffers == {"v"}


def test_rows_that_may_meet_read_all_before_they_write(checked: Checked) -> None:
    body = (
        "rows = tl.arange(0, 9)\nplaces = x + rows[:, None] * n + rows[None, :]\n"
        "v = tl.load(places)\ntl.store(places, v + 1)"
    )
    _, buffers, _ = checked(body, "x, n", lambda: [*floats(81), np.int32(0)])
    assert buffers == {"v"}


def test_looked_up_lanes_in_place(checked: Checked) -> None:
    body = f"{LANES}where = tl.load(i + lanes)\nv = tl.load(x + where)\ntl.store(x + where, v + 1)"
    indexes = np.repeat(np.arange(25, dtype=np.int32), 2)
    _, buffers, _ = checked(body, "x, i", lambda: [*floats(50), indexes.copy()])
    assert "v" in buffers


def test_a_load_sees_an_earlier_store(checked: Checked) -> None:
    body = (
        f"{LANES}tl.store(x + lanes, 3.0)\nv = tl.load(x + 49 - lanes)\n"
        "tl.store(x + lanes, 4.0)\ntl.store(y + lanes, v)"
    )
    plan, buffers, _ = checked(body, "x, y", lambda: floats(50, 50))
    assert buffers == {"v"}
    assert plan == ["store", "materialise:v", "store store"]


def test_a_load_is_not_deferred_past_a_store(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(x + lanes, 0.0)\ntl.store(y + lanes, v)"
    plan, buffers, _ = checked(body, "x, y", lambda: floats(50, 50))
    assert buffers == {"v"}
    assert plan == ["materialise:v store store"]


def test_a_load_is_not_deferred_past_a_store_of_one_element(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(x + 7, 0.0)\ntl.store(y + lanes, v)"
    _, buffers, _ = checked(body, "x, y", lambda: floats(50, 50))
    assert buffers == {"v"}


def test_a_load_is_not_deferred_past_a_loop_that_stores(checked: Checked) -> None:
    body = (
        f"{LANES}v = tl.load(x + lanes)\nfor k in range(n):\n    tl.store(x + k, 0.0)\ntl.store(y + lanes, v)"
    )
    plan, buffers, _ = checked(body, "x, y, n", lambda: [*floats(50, 50), 9])
    assert buffers == {"v"}
    assert plan == ["materialise:v", [[]], "store"]


def test_a_load_is_not_deferred_into_a_loop(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\nfor k in range(n):\n    tl.store(y + k + lanes, v)"
    plan, buffers, _ = checked(body, "x, y, n", lambda: [*floats(50, 60), 4])
    assert buffers == {"v"}
    assert plan == ["materialise:v", [["store"]]]


def test_a_load_is_deferred_into_a_branch_that_leaves_its_memory_alone(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\nif n > 3:\n    tl.store(y + lanes, v)"
    plan, buffers, _ = checked(body, "x, y, n", lambda: [*floats(50, 50), 4])
    assert not buffers
    assert plan == [[["store"], []]]


def test_a_load_is_not_deferred_into_a_branch_that_stores(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\nif n > 3:\n    tl.store(x + 5, 0.0)\n    tl.store(y + lanes, v)"
    _, buffers, _ = checked(body, "x, y, n", lambda: [*floats(50, 50), 4])
    assert buffers == {"v"}


def overlapping() -> Sequence[Any]:
    (both,) = floats(60)
    return [both[:50], both[10:]]


def test_arguments_that_overlap_read_all_before_they_write(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(y + lanes, v)"
    plan, buffers, _ = checked(body, "x, y", overlapping, distinct=False)
    assert buffers == {"v"}
    assert plan == ["materialise:v", "store"]


def test_arguments_that_do_not_overlap_need_no_buffer(checked: Checked) -> None:
    body = f"{LANES}v = tl.load(x + lanes)\ntl.store(y + lanes, v)"
    plan, buffers, _ = checked(body, "x, y", lambda: floats(50, 50))
    assert not buffers
    assert plan == ["store"]


# Loops


def test_tiles_that_a_loop_swaps(checked: Checked) -> None:
    body = (
        f"{LANES}a = tl.load(x + lanes)\nb = tl.load(y + lanes)\nfor k in range(n):\n    a, b = b, a\n"
        "tl.store(x + lanes, a)\ntl.store(y + lanes, b)"
    )
    for n in (0, 1, 4, 5):
        _, _, text = checked(body, "x, y, n", lambda n=n: [*floats(50, 50), n])
    assert "spare" in text


def test_numbers_that_a_loop_swaps(checked: Checked) -> None:
    body = "a = n\nb = m\nfor k in range(5):\n    a, b = b, a\ntl.store(x, a)\ntl.store(x + 1, b)"
    _, _, text = checked(body, "x, n, m", lambda: [np.zeros(2, np.int32), 3, 4])
    assert "next_" in text


def test_an_accumulator_stays_in_place(checked: Checked) -> None:
    body = (
        f"{LANES}total = tl.zeros((50,), tl.float32)\nfor k in range(n):\n"
        "    total = total + tl.load(x + k * 50 + lanes)\ntl.store(y + lanes, total)"
    )
    _, _, text = checked(body, "x, y, n", lambda: [*floats(200, 50), 4])
    assert "memcpy" not in text
    assert text.count("total_buffer = ") == 1


def test_a_new_tile_does_not_take_the_place_of_one_that_is_read_elsewhere(checked: Checked) -> None:
    """The loop carries `new` on in the buffer of `a`, of which other lanes are still to be read."""
    body = (
        "rows = tl.arange(0, 9)\noffsets = rows[:, None] * 9 + rows[None, :]\na = tl.load(x + offsets)\n"
        "for k in range(n):\n    new = a + 1\n    tl.store(y + k * 81 + offsets, tl.trans(a))\n"
        "    a = new\ntl.store(x + offsets, a)"
    )
    checked(body, "x, y, n", lambda: [*floats(81, 243), 3])


def test_a_new_tile_does_not_take_the_place_of_one_that_is_read_later(checked: Checked) -> None:
    body = (
        "rows = tl.arange(0, 9)\noffsets = rows[:, None] * 9 + rows[None, :]\na = tl.load(x + offsets)\n"
        "for k in range(n):\n    new = a * 2\n    tl.store(y + rows + k, tl.sum(new, 0))\n"
        "    tl.store(y + rows + k * 2, tl.max(a, 1))\n    a = new\ntl.store(x + offsets, a)"
    )
    checked(body, "x, y, n", lambda: [*floats(81, 40), 3])


DOT = """
rows = tl.arange(0, 9)
places = rows[:, None] * 9 + rows[None, :]
total = tl.zeros((9, 9), tl.float32)
for k in range(n):
    total = tl.dot(tl.load(x + k + places), tl.load(y + k + places), total)
tl.store(z + places, total)
"""


def test_a_product_accumulates_in_place(checked: Checked) -> None:
    plan, buffers, text = checked(DOT, "x, y, z, n", lambda: [*floats(90, 90, 81), 3])
    assert plan == [[["dot"]], "store"]
    assert not buffers
    assert "memcpy" not in text
    assert text.count("total_buffer = ") == 1


def test_a_product_whose_accumulator_is_read_again_is_a_copy(checked: Checked) -> None:
    body = (
        "rows = tl.arange(0, 9)\nplaces = rows[:, None] * 9 + rows[None, :]\nv = tl.load(x + places)\n"
        "first = tl.dot(v, v)\nsecond = tl.dot(v, v, first)\ntl.store(y + places, first + second)"
    )
    _, _, text = checked(body, "x, y", lambda: floats(81, 81))
    assert "__builtin_memcpy" in text


def test_a_factor_that_is_computed_gets_a_buffer(checked: Checked) -> None:
    body = (
        "rows = tl.arange(0, 9)\nplaces = rows[:, None] * 9 + rows[None, :]\nv = tl.load(x + places) + 1\n"
        "tl.store(y + places, tl.dot(v, tl.trans(v)))"
    )
    plan, buffers, _ = checked(body, "x, y", lambda: floats(81, 81))
    assert "v" in buffers
    assert plan[-2:] == ["dot", "store"]


# Ragged ends


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 63, 64, 95, 96, 200, -5])
def test_lanes_behind_the_end_are_a_loop_of_their_own(n: int, checked: Checked) -> None:
    body = (
        "lanes = tl.arange(0, 96)\ninside = lanes < n\nv = tl.load(x + lanes, mask=inside, other=2.0)\n"
        "tl.store(y + lanes, v, mask=inside)\ntl.store(z, tl.sum(v, 0))\ntl.store(w + lanes, v * 2)"
    )
    size = max(n, 1)
    make = lambda: [*floats(size, 96, 1, 96), n]  # noqa: E731
    _, _, text = checked(body, "x, y, z, w, n", make)
    assert "next_vector(" in text


@pytest.mark.parametrize(("rows", "columns"), [(9, 9), (0, 4), (4, 0), (1, 8), (5, 7)])
def test_blocks_loop_to_their_bounds(rows: int, columns: int, checked: Checked) -> None:
    body = (
        "r = tl.arange(0, 9)\nc = tl.arange(0, 9)\ninside = (r[:, None] < n) & (c[None, :] < m)\n"
        "tl.store(x + r[:, None] * 9 + c[None, :], 5.0, mask=inside)"
    )
    _, _, text = checked(body, "x, n, m", lambda: [*floats(81), rows, columns])
    assert "i_end = smaller(n, 9)" in text


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 16, 20])
def test_products_of_ragged_blocks(n: int, checked: Checked) -> None:
    """Infinities meet the zeros beyond the edge: the reference's NaN are there, and nowhere else."""
    body = (
        "r = tl.arange(0, 16)\nplaces = r[:, None] * 16 + r[None, :]\n"
        "a = tl.load(x + places, mask=r[:, None] < n, other=0.0)\n"
        "b = tl.load(y + places, mask=r[None, :] < n, other=0.0)\ntl.store(z + places, tl.dot(a, b))"
    )

    def make() -> list[Any]:
        x, y, z = floats(256, 256, 256)
        x[5], y[40] = np.inf, np.nan
        return [x, y, z, n]

    plan, buffers, text = checked(body, "x, y, z, n", make)
    assert plan == ["dot", "store"]
    assert not buffers
    assert "_beyond_rows(" in text
    assert "_beyond_columns(" in text
