"""Claims, denials, limits and refusals."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from xdsl_core.diagnostics import BackendError
from xdsl_core.target import Capabilities, Claim, Denial, claim_all

FLOATS = frozenset({"f16", "f32"})


@dataclass(frozen=True)
class Named:
    name: str


OPS = (Named("math.exp"), Named("math.sin"), Named("atomic.add"), Named("tile.dot"))


def test_claimed_op_is_supported() -> None:
    capabilities = Capabilities((Claim("math.exp", FLOATS),))
    assert capabilities.supports("math.exp", ["f16"]) is None
    assert capabilities.dtypes("math.exp") == FLOATS


def test_unclaimed_op_is_refused() -> None:
    refusal = Capabilities((Claim("math.exp", FLOATS),)).supports("math.sin", ["f16"])
    assert refusal is not None
    assert (refusal.kind, refusal.reason) == ("op", "the op is not claimed")


def test_unclaimed_dtype_is_refused_with_the_claimed_ones() -> None:
    refusal = Capabilities((Claim("math.exp", FLOATS),)).supports("math.exp", ["f64"])
    assert refusal is not None
    assert (refusal.kind, refusal.reason, refusal.fix) == (
        "dtype",
        "f64 is not claimed",
        "cast to one of: f16, f32",
    )


def test_masks_need_no_claim_beside_other_dtypes() -> None:
    capabilities = Capabilities((Claim("tile.load", FLOATS),))
    assert capabilities.supports("tile.load", ["f32", "i1"]) is None
    assert capabilities.supports("tile.load", ["i1"]) is not None


def test_claims_of_one_op_are_alternatives_not_a_union() -> None:
    capabilities = Capabilities(
        (Claim("tile.dot", frozenset({"f16"})), Claim("tile.dot", frozenset({"f32"})))
    )
    assert capabilities.supports("tile.dot", ["f32"]) is None
    refusal = capabilities.supports("tile.dot", ["f16", "f32"])
    assert refusal is not None
    assert "the mix of f16, f32" in refusal.reason


@pytest.mark.parametrize(
    ("limit", "good", "bad", "reason"),
    [
        ({"max_rank": 2}, (4, 4), (4, 4, 4), "rank 3 is above 2"),
        ({"min_extent": 16}, (16, 32), (16, 8), "extent 8 is below 16"),
        ({"max_extent": 64}, (64,), (65,), "extent 65 is above 64"),
        ({"multiple_of": 16}, (48,), (40,), "extent 40 is no multiple of 16"),
        ({"power_of_two": True}, (64, 1), (48,), "extent 48 is no power of two"),
        ({"max_elements": 100}, (10, 10), (10, 11), "110 elements are above 100"),
    ],
)
def test_limits(limit: dict[str, int], good: tuple[int, ...], bad: tuple[int, ...], reason: str) -> None:
    capabilities = Capabilities((Claim("op", FLOATS, limit),))
    assert capabilities.supports("op", ["f16"], [good]) is None
    refusal = capabilities.supports("op", ["f16"], [good, bad])
    assert refusal is not None
    assert refusal.kind == "limit"
    assert reason in refusal.reason


def test_unknown_limit_is_a_mistake_of_the_backend() -> None:
    with pytest.raises(BackendError) as caught:
        Claim("tile.dot", FLOATS, {"min_extend": 16})
    assert caught.value.code == "X0613"


def test_families_are_claimed_at_once() -> None:
    capabilities = claim_all(OPS, FLOATS, except_={"atomic.*": "no atomics", "math.sin": "no sine"})
    assert capabilities.ops == {"math.exp", "tile.dot"}
    refusal = capabilities.supports("atomic.add", ["f32"])
    assert refusal is not None
    assert refusal.reason == "no atomics"


def test_denial_of_a_dtype_wins_over_the_claim() -> None:
    capabilities = claim_all(OPS, FLOATS).extended(Denial("math.exp", "slow there", frozenset({"f16"})))
    assert capabilities.supports("math.exp", ["f32"]) is None
    refusal = capabilities.supports("math.exp", ["f16"])
    assert refusal is not None
    assert (refusal.kind, refusal.reason) == ("dtype", "slow there")
    assert capabilities.dtypes("math.exp") == {"f32"}


def test_replacing_claims_of_one_op() -> None:
    capabilities = claim_all(OPS, FLOATS).replacing(Claim("tile.dot", frozenset({"i8"})))
    assert capabilities.dtypes("tile.dot") == {"i8"}
    assert capabilities.dtypes("math.exp") == FLOATS
