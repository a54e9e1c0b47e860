"""Definitions that are not whole are refused; uses that break a rule get a diagnostic that says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError
from xdsl_core.ir import Block, Builder, Function, Module, ScalarType, Trait, parse_type, verify
from xdsl_core.opdef import (
    DefinitionError,
    ErrorSample,
    Exact,
    OpDef,
    OpSet,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.document import document_op, signature
from xdsl_core.opdef.patterns import Float, Integer, tile
from xdsl_core.ops import CORE, Add, Cast, Constant, Load, Log1p


class Whole:
    """Doubles a number and nothing else."""

    source = operand(tile(Integer), doc="what is doubled", rank=(1, 2))
    times = attribute(int, doc="how often", default=1)
    doubled = result(doc="the double")
    constraints = (constraint("C1", "times >= 0", "times is negative", help="give zero or more"),)
    samples = (Sample({"source": "tile<3xi32>"}), Sample({"source": "tile<3xu8>"}))
    error_samples = (ErrorSample("C1", {"source": "tile<3xi32>"}, {"times": -1}),)
    budget = Exact()

    @type_rule
    def _(source: Any) -> Any:
        return source

    @reference
    def _compute(source: Any, times: int) -> Any:
        return source * 2**times


def define(**changes: Any) -> OpDef:
    """Whole with parts replaced, or left out where the change is None."""
    parts = {name: part for name, part in vars(Whole).items() if not name.startswith("__")}
    parts["__doc__"] = Whole.__doc__
    parts |= changes
    body = type("Body", (), {name: part for name, part in parts.items() if part is not None})
    return op("acme.double", since="0.1", profile=changes.get("profile", "core"), traits=(Trait.PURE,))(body)


def test_a_whole_definition_is_accepted() -> None:
    definition = define()
    assert signature(definition) == "acme.double(source; times=1) -> doubled"
    text = document_op(definition)
    assert "| source | tile of integer of rank 1 or 2 | what is doubled |" in text
    assert "**C1** `times >= 0`: else *times is negative* (X0202); give zero or more" in text


@reference
def _asks_too_much(source: Any, color: Any) -> Any:
    return source


LACKING: dict[str, tuple[dict[str, Any], str]] = {
    "docstring": ({"__doc__": ""}, "no docstring"),
    "profile": ({"profile": "huge"}, "profile huge is none of core, tile"),
    "doc of a part": ({"times": attribute(int, doc="")}, "times has no doc"),
    "type rule": ({"_": None}, "no @type_rule"),
    "reference": ({"_compute": None}, "no @reference"),
    "samples": ({"samples": ()}, "no samples"),
    "family": (
        {"samples": (Sample({"source": "tile<3xi32>"}),)},
        "no sample gives source an element of uint",
    ),
    "error sample": ({"error_samples": ()}, "error samples for ; constraints are C1"),
    "labels": (
        {"constraints": (constraint("C2", "times >= 0", "negative", help="give zero or more"),)},
        "C1, C2, ... without gaps: C2",
    ),
    "budget": ({"budget": None}, "no error budget"),
    "parameters": ({"_compute": _asks_too_much}, "the reference asks for color; the op has"),
}


@pytest.mark.parametrize(("changes", "message"), LACKING.values(), ids=LACKING)
def test_a_definition_that_lacks_something_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        define(**changes)
    assert str(refused.value).startswith("acme.double: ")
    assert message in str(refused.value)


def codes_of(build: Callable[[Builder, Any], Any], *types: str) -> str:
    """The text of the error that building an op on values of these types gives."""
    block = Block([parse_type(text) for text in types], [f"v{number}" for number in range(len(types))])
    with pytest.raises(CompilationError) as refused:
        build(Builder(block), block.arguments)
    assert not block.ops
    return str(refused.value)


def test_operand_of_a_wrong_type() -> None:
    text = codes_of(lambda b, v: b.value(Log1p, v[0]), "f16")
    assert "error[X0201]: tile.log1p: operand must be f32 or f64" in text
    assert "v0 is f16" in text
    assert "X0201" in codes_of(lambda b, v: b.value(define(), v[0]), "tile<2x3x4xi32>")
    assert "must have rank 1 or 2" in codes_of(lambda b, v: b.value(define(), v[0]), "tile<2x3x4xi32>")
    assert "operand rhs is missing" in codes_of(lambda b, v: b.value(Add, v[0]), "f32")


def test_attributes() -> None:
    text = codes_of(lambda b, v: b.value(Cast, v[0], to=dtypes.f16, rounding="up"), "f32")
    assert "X0203" in text
    assert "one of: 'rtne', 'rtz'" in text
    assert "attribute to is missing" in codes_of(lambda b, v: b.value(Cast, v[0]), "f32")
    assert "no attribute tho" in codes_of(lambda b, v: b.value(Cast, v[0], to=dtypes.f16, tho=1), "f32")
    assert "must be bool, not 1" in codes_of(lambda b, v: b.value(Load, v[0], volatile=1), "ptr<f32>")
    assert "must be int, not True" in codes_of(
        lambda b, v: b.value(define(), v[0], times=True), "tile<3xi32>"
    )


def test_the_first_broken_rule_is_shown_with_what_it_speaks_of() -> None:
    text = codes_of(lambda b, v: b.value(Add, v[0], v[1]), "tile<4xf32>", "tile<8xf32>")
    assert "error[X0209]: tile.add: the operands differ in type" in text
    assert "v0 is tile<4xf32>, v1 is tile<8xf32>" in text
    assert "= requires (C1): lhs == rhs" in text


def test_recorded_result_types_are_checked() -> None:
    module = Module()
    function = module.add(Function("kernel", []))
    builder = Builder(function.block)
    one = builder.value(Constant, value=1.0, type=ScalarType(dtypes.f32))
    builder.create(Add, [[one], [one]], result_types=[ScalarType(dtypes.f64)])
    found = {diagnostic.code: diagnostic.message for diagnostic in verify(module)}
    assert found["X0204"] == "tile.add: result types are (f64), its type rule gives (f32)"


def test_sets_of_ops() -> None:
    mine = CORE.extend()
    mine.register(define())
    assert "acme.double" in mine
    assert "acme.double" not in CORE
    with pytest.raises(ValueError, match="is already defined"):
        mine.register(define())
    with pytest.raises(KeyError, match=r"did you mean: .*tile[.]add"):
        CORE["tile.ad"]
    assert len(OpSet(CORE)) == len(CORE)


def test_bodies_share_parts_by_inheritance() -> None:
    class Base:
        source = operand(tile(Float), doc="what is kept")
        kept = result(doc="the same")
        samples = tuple(Sample({"source": f"tile<3x{e}>"}) for e in ("f32", "f64", "f16", "f8e5m2"))
        budget = Exact()

        @type_rule
        def _(source: Any) -> Any:
            return source

        @reference
        def _compute(source: Any) -> Any:
            return source

    @op("acme.keep", since="0.1", profile="core", traits=(Trait.PURE,))
    class Keep(Base):
        """Keeps a tile as it is."""

        source = operand(tile(Float), doc="what is kept, really")

    assert isinstance(Keep, OpDef)
    assert Keep.operands["source"].doc == "what is kept, really"
    with pytest.raises(DefinitionError, match="no docstring"):
        op("acme.keep", since="0.1", profile="core")(type("Undocumented", (Base,), {}))
