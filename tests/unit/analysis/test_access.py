"""Accesses as base + strides + bounds: what is found, and what stays irregular and why."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.analysis.kernels import access, accesses, module_of
from xdsl_core.analysis.access import Access, Bounds, Irregular, bounds_of
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.cli.accesses import explain_accesses
from xdsl_core.ir import Op, parse_type
from xdsl_core.ops import Constant

LANES = "lanes = tl.arange(0, 64)\n"
BLOCK = "rows = tl.arange(0, 8)\ncolumns = tl.arange(0, 16)\n"


def bounds_text(bounds: Bounds | None) -> dict[int, list[str]]:
    assert bounds is not None
    return {dim: [str(limit) for limit in limits] for dim, limits in bounds.upper.items()}


# Offsets


@pytest.mark.parametrize(
    ("pointers", "offset"),
    [
        ("x + lanes", "lane0"),
        ("x + (n + lanes)", "n + lane0"),
        ("x + lanes * 3 - 2", "3*lane0 - 2"),
        ("x + (63 - lanes)", "63 - lane0"),
        ("x + lanes * n", "n*lane0"),
        ("x + (lanes + n) * m", "m*lane0 + n*m"),
        ("x + lanes.to(tl.int64)", "lane0"),
        ("x + (-lanes)", "-lane0"),
        ("x + tl.arange(5, 69)", "lane0 + 5"),
        ("x + lanes + n + lanes", "2*lane0 + n"),
    ],
)
def test_offsets_of_one_dimension(pointers: str, offset: str) -> None:
    (found,) = accesses(f"{LANES}tl.store({pointers}, 0.0)")
    assert isinstance(found, Access)
    terms = lambda text: sorted(text.replace("- ", "+ -").split(" + "))  # noqa: E731
    factors = lambda text: [sorted(term.split("*")) for term in terms(text)]  # noqa: E731
    assert sorted(factors(str(found.offset))) == sorted(factors(offset))
    assert found.bounds == Bounds()


def test_offsets_of_a_block() -> None:
    found = access(f"{BLOCK}tl.store(x + rows[:, None] * n + columns[None, :], 0.0)")
    assert [str(found.stride(dim)) for dim in (0, 1)] == ["n", "1"]
    assert found.base.name == "x"


def test_a_transposed_block_has_its_strides_swapped() -> None:
    found = access(f"{BLOCK}tl.store(tl.trans(x + rows[:, None] * n + columns[None, :]), 0.0)")
    assert [str(found.stride(dim)) for dim in (0, 1)] == ["1", "n"]


def test_scalar_parts_of_the_pointer_are_the_base() -> None:
    found = access(f"{LANES}tl.store(x + n * m + lanes, 0.0)")
    assert found.base.name != "x"
    assert str(found.offset) == "lane0"


def test_a_narrowed_index_is_a_symbol_of_its_own() -> None:
    """The low 32 bits of a wide product are not the product."""
    found = access(f"{LANES}tl.store(x + ((n.to(tl.int64) * m).to(tl.int32) + lanes), 0.0)")
    assert str(found.stride(0)) == "1"
    assert len(found.offset.terms) == 2


def test_unsigned_and_narrow_arithmetic_is_not_followed() -> None:
    """It wraps around where a polynomial would not."""
    found = access(f"{LANES}tl.store(x + (lanes.to(tl.uint8) * 5), 0.0)")
    assert found.stride(0) is None


def test_a_gather_has_no_stride() -> None:
    _, found = accesses(
        f"{LANES}tl.store(x + tl.load(i + lanes), 0.0)", "x, i", np.zeros(1, "f4"), np.zeros(1, "i4")
    )
    assert isinstance(found, Access)
    assert found.stride(0) is None
    assert found.bounds == Bounds()


def test_selected_pointers_are_irregular() -> None:
    found = accesses(
        f"{LANES}tl.store(tl.where(lanes < n, x + lanes, y + lanes), 0.0)",
        "x, y, n",
        *(np.zeros(1, "f4"), np.zeros(1, "f4"), 3),
    )
    assert isinstance(found[0], Irregular)
    assert "no common base" in found[0].reason


# Bounds


@pytest.mark.parametrize(
    ("mask", "upper"),
    [
        ("lanes < n", ["n"]),
        ("lanes <= n", ["n + 1"]),
        ("n > lanes", ["n"]),
        ("n >= lanes", ["n + 1"]),
        ("lanes + m < n", ["n - m"]),
        ("(lanes < n) & (lanes < m)", ["n", "m"]),
        ("lanes < 7", ["7"]),
        ("(lanes < n) & (n > lanes)", ["n"]),
    ],
)
def test_masks_that_are_bounds(mask: str, upper: list[str]) -> None:
    found = access(f"{LANES}tl.store(x + lanes, 0.0, mask={mask})")
    assert bounds_text(found.bounds) == {0: upper}


@pytest.mark.parametrize(
    "mask",
    ["lanes >= n", "lanes > 3", "lanes == n", "lanes * 2 < n", "(lanes < n) | (lanes < m)", "lanes % 2 == 0",
     "63 - lanes < n", "lanes.to(tl.uint32) < 5"],
)  # fmt: skip
def test_masks_that_are_none(mask: str) -> None:
    found = access(f"{LANES}tl.store(x + lanes, 0.0, mask={mask})")
    assert found.bounds is None
    assert found.reason == "the mask is no conjunction of lane < bound"


def test_bounds_of_a_block() -> None:
    found = access(
        f"{BLOCK}tl.store(x + rows[:, None] * 16 + columns[None, :], 0.0, "
        "mask=(rows[:, None] < n) & (columns[None, :] < m))"
    )
    assert bounds_text(found.bounds) == {0: ["n"], 1: ["m"]}
    assert found.bounds is not None
    assert found.bounds.rectangular


def test_a_triangle_is_a_bound_that_depends_on_the_row() -> None:
    found = access(
        f"{BLOCK}tl.store(x + rows[:, None] * 16 + columns[None, :], 0.0, "
        "mask=columns[None, :] <= rows[:, None])"
    )
    assert bounds_text(found.bounds) == {1: ["lane0 + 1"]}
    assert found.bounds is not None
    assert not found.bounds.rectangular


def test_the_end_of_flattened_rows() -> None:
    found = access(
        f"{BLOCK}places = rows[:, None] * 16 + columns[None, :]\ntl.store(x + places, 0.0, mask=places < n)"
    )
    assert bounds_text(found.bounds) == {1: ["n - 16*lane0"]}


def test_a_condition_for_all_lanes() -> None:
    found = access(f"{LANES}tl.store(x + lanes, 0.0, mask=(lanes < n) & (m > 5))")
    assert bounds_text(found.bounds) == {0: ["n"]}
    assert found.bounds is not None
    assert len(found.bounds.conditions) + len(found.bounds.negative) == 1


def test_a_mask_that_is_never_true() -> None:
    mask = Op(Constant, [], [parse_type("tile<4xi1>")], {"value": False, "type": parse_type("tile<4xi1>")})
    assert bounds_of(mask.result, IndexAnalysis()) == Bounds(never=True)


# Lanes that never meet


@pytest.mark.parametrize(
    ("pointers", "injective"),
    [
        ("x + rows[:, None] * 16 + columns[None, :]", True),
        ("x + rows[:, None] * 15 + columns[None, :]", False),
        ("x - rows[:, None] * 16 - columns[None, :]", True),
        ("x + rows[:, None] + columns[None, :] * 8", True),
        ("x + rows[:, None] + columns[None, :] * 7", False),
        ("x + rows[:, None] * 0 + columns[None, :]", False),
        ("x + rows[:, None] * n + columns[None, :]", False),
        ("x + rows[:, None] + columns[None, :]", False),
        ("x + rows[:, None] * 40 + columns[None, :] * 2", True),
    ],
)
def test_lanes_that_never_meet(pointers: str, injective: bool) -> None:
    found = access(f"{BLOCK}tl.store({pointers} + n, 0.0)")
    assert found.is_injective((8, 16)) is injective


def test_one_lane_never_meets_itself() -> None:
    assert access("tl.store(x + tl.arange(0, 1) * 0, 0.0)").is_injective((1,))


# Explanations


def explained(body: str, parameters: str = "x, n, m", *arguments: object) -> list[tuple[bool, str]]:
    findings = explain_accesses(module_of(body, parameters, *arguments))
    return [(finding.structured, "\n".join(finding.details)) for finding in findings]


def test_explains_what_is_structured() -> None:
    body = f"{BLOCK}tl.store(x + rows[:, None] * n + columns[None, :], 0.0, mask=(rows < m)[:, None])"
    ((structured, text),) = explained(body)
    assert structured
    assert text == (
        "base x, offset lane0*n + lane1\ndimension 0 of 8: stride n\n"
        "dimension 1 of 16: contiguous\nmask: lane0 < m"
    )


def test_explains_a_remainder() -> None:
    ((structured, text),) = explained(f"{LANES}wrapped = lanes % n\ntl.store(x + wrapped, 0.0)")
    assert not structured
    assert "not linear in it, because of wrapped (a remainder, which may wrap around)" in text


def test_explains_a_gather() -> None:
    arrays = np.zeros(1, "f4"), np.zeros(1, "i4")
    first, second = explained(f"{LANES}where = tl.load(i + lanes)\ntl.store(x + where, 0.0)", "x, i", *arrays)
    assert first == (True, "base i, offset lane0\ndimension 0 of 64: contiguous")
    assert not second[0]
    assert "because of where (read from memory)" in second[1]


def test_explains_a_mask_that_is_no_bound() -> None:
    ((structured, text),) = explained(f"{LANES}tl.store(x + lanes, 0.0, mask=lanes > n)")
    assert not structured
    assert text.endswith("mask: the mask is no conjunction of lane < bound")


def test_explains_a_moved_base_and_terms_without_names() -> None:
    body = f"{LANES}tl.store(x + n * m + lanes, 0.0, mask=lanes < n - n // 4 * 4)"
    ((structured, text),) = explained(body)
    assert structured
    assert text.startswith("base x moved by a scalar, offset lane0")
    assert "mask: lane0 < (n - ((n // 4) * 4))" in text


def test_explains_one_element() -> None:
    assert explained("tl.store(x + n, 0.0)") == [(True, "one element")]


# Lower bounds


@pytest.mark.parametrize(
    "index",
    [
        "tl.program_id(0) * 64 + lanes",
        "tl.program_id(0) // 3 * 64 + lanes.to(tl.int64)",
        "tl.program_id(0) % 3 + tl.num_programs(1) + lanes",
        "tl.maximum(n, 0) + lanes",
    ],
)
def test_a_lower_bound_that_always_holds_is_no_bound(index: str) -> None:
    found = access(f"{LANES}i = {index}\ntl.store(x + i, 1.0, mask=(i >= 0) & (i < m))")
    assert found.bounds is not None
    assert set(found.bounds.upper) == {0}
    assert not found.bounds.negative


@pytest.mark.parametrize("index", ["n + lanes", "tl.program_id(0) - 1 + lanes", "lanes - 1"])
def test_a_lower_bound_that_may_not_hold_makes_the_mask_irregular(index: str) -> None:
    found = access(f"{LANES}i = {index}\ntl.store(x + i, 1.0, mask=(i >= 0) & (i < m))")
    assert found.bounds is None


@pytest.mark.parametrize(("start", "step", "holds"), [("0", "8", True), ("n", "8", False), ("0", "n", False)])
def test_an_index_that_only_grows_in_a_loop_is_not_negative(start: str, step: str, holds: bool) -> None:
    body = (
        f"{LANES}p = {start}\nfor k in range(0, m):\n"
        f"    tl.store(x + p + lanes, 1.0, mask=(p + lanes >= 0) & (p + lanes < m))\n    p += {step}"
    )
    assert (access(body).bounds is not None) is holds
