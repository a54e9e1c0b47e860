"""Which ops of a module are refused, and where the diagnostic points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl_core.diagnostics import Location, render
from xdsl_core.dtypes import f16, f32, f64, i1
from xdsl_core.ir import PointerType, ScalarType, TileType, TokenType
from xdsl_core.target import Capabilities, Claim
from xdsl_core.target.legality import check, dtype_names

FLOATS = frozenset({"f16", "f32"})
CAPABILITIES = Capabilities((Claim("tile.add", FLOATS), Claim("tile.dot", FLOATS, {"min_extent": 16})))


@dataclass
class FakeValue:
    type: Any


@dataclass
class FakeOp:
    """The part of an op that legality reads."""

    name: str
    types: list[Any]
    line: int
    results: list[FakeValue] = field(default_factory=list)

    @property
    def operands(self) -> list[FakeValue]:
        return [FakeValue(type_) for type_ in self.types]

    @property
    def location(self) -> Location:
        return Location("kernel.py", self.line, 4)


class FakeModule:
    def __init__(self, *ops: FakeOp) -> None:
        self.ops = ops

    def walk(self) -> tuple[FakeOp, ...]:
        return self.ops


def refused(*ops: FakeOp) -> list[tuple[str, int, str]]:
    found = check(FakeModule(*ops), CAPABILITIES, backend="acme")  # type: ignore[arg-type]
    return [(problem.code, problem.location.line, problem.message) for problem in found]


def test_claimed_ops_pass() -> None:
    assert refused(FakeOp("tile.add", [TileType((8,), f16), TileType((8,), i1)], 1)) == []


def test_dtype_op_and_shape_are_refused_on_their_lines() -> None:
    assert refused(
        FakeOp("tile.add", [ScalarType(f64)], 3),
        FakeOp("tile.sort", [TileType((8,), f32)], 4),
        FakeOp("tile.dot", [TileType((8, 16), f32)], 5),
    ) == [
        ("X0610", 3, "acme does not claim op tile.add for dtype f64"),
        ("X0611", 4, "acme does not claim op tile.sort"),
        ("X0612", 5, "acme does not claim op tile.dot for this shape"),
    ]


def test_reason_and_fix_are_shown() -> None:
    module = FakeModule(FakeOp("tile.dot", [TileType((8, 16), f32)], 5))
    (problem,) = check(module, CAPABILITIES, backend="acme")  # type: ignore[arg-type]
    text = render(problem)
    assert "limit min_extent=16: extent 8 is below 16 in 8x16" in text
    assert "help: change the tile's shape" in text


def test_same_refusal_on_a_line_is_reported_once() -> None:
    assert (
        len(refused(FakeOp("tile.sort", [], 4), FakeOp("tile.sort", [], 4), FakeOp("tile.sort", [], 5))) == 2
    )


def test_dtype_of_every_type() -> None:
    assert list(dtype_names(PointerType(f16))) == ["f16"]
    assert list(dtype_names(TileType((4,), PointerType(f32)))) == ["f32"]
    assert list(dtype_names(TokenType())) == []
