"""Typed launch options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from xdsl_core.backend import Options, make_options
from xdsl_core.diagnostics import BackendError


@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeOptions(Options):
    mode: Literal["fast", "exact"] = "exact"
    scale: float = 1.0
    tiles: tuple[int, ...] = ()
    pair: tuple[int, str] = (0, "")
    note: str | None = None


def make(**values: Any) -> AcmeOptions:
    return make_options(AcmeOptions, values, backend="acme")


def test_defaults_are_those_of_the_class() -> None:
    assert make() == AcmeOptions()
    assert hash(make()) == hash(AcmeOptions())


def test_values_are_taken_and_made_plain() -> None:
    options = make(num_warps=np.int32(8), scale=2, tiles=[16, 32], pair=(1, "a"), note="x", mode="fast")
    assert (options.num_warps, options.scale, options.tiles, options.pair) == (8, 2.0, (16, 32), (1, "a"))
    assert type(options.num_warps) is int
    assert make(maxnreg=None).maxnreg is None
    assert make(maxnreg=64).maxnreg == 64


def test_unknown_option_suggests_the_nearest() -> None:
    with pytest.raises(BackendError, match="backend acme has no option 'num_warp'") as caught:
        make(num_warp=4)
    assert caught.value.code == "X0606"
    assert "did you mean 'num_warps'?" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_warps", "4"),
        ("num_warps", True),
        ("num_warps", 2.0),
        ("debug", 1),
        ("maxnreg", "many"),
        ("mode", "slow"),
        ("scale", "2"),
        ("tiles", 16),
        ("tiles", (16, "x")),
        ("pair", (1,)),
        ("note", 3),
    ],
)
def test_value_of_a_wrong_type_is_refused(name: str, value: object) -> None:
    with pytest.raises(BackendError, match=f"option '{name}' of backend acme is ") as caught:
        make(**{name: value})
    assert caught.value.code == "X0607"


def test_all_wrong_options_are_reported_together() -> None:
    with pytest.raises(BackendError) as caught:
        make(num_warps="4", nothing=1)
    assert [problem.code for problem in caught.value.diagnostics] == ["X0607", "X0606"]
