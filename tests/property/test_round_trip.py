"""Random modules: the text form, clones and MLIR's form lose nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.programs import programs
from tests.unit.ir.helpers import description, parse
from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError
from xdsl_core.ir import Module, PointerType, ScalarType, TileType, print_mlir, print_module, verify

SLOW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(dtypes.ALL),
    st.sampled_from(dtypes.ALL).map(ScalarType),
    st.builds(
        TileType,
        st.lists(st.integers(1, 2**20), min_size=1, max_size=4).map(tuple),
        st.sampled_from(dtypes.ALL),
    ),
    st.builds(PointerType, st.sampled_from(dtypes.ALL), st.text(st.characters(codec="utf-8"), min_size=1)),
)
names = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple), st.dictionaries(names, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(names, values, max_size=5))
def test_any_attribute_value_round_trips(attributes: dict[str, Any]) -> None:
    module = Module(attributes=attributes)
    assert description(parse(print_module(module))) == description(module)


@SLOW
@given(programs())
def test_random_modules_are_valid_and_round_trip(module: Module) -> None:
    assert verify(module) == []
    text = print_module(module)
    again = parse(text)
    assert description(again) == description(module)
    assert print_module(again) == text
    assert verify(again) == []
    with_locations = print_module(again, locations=True)
    assert description(parse(with_locations), locations=True) == description(again, locations=True)


@SLOW
@given(programs())
def test_clones_are_equal_and_independent(module: Module) -> None:
    text = print_module(module)
    clone = module.clone()
    assert description(clone) == description(module)
    assert verify(clone) == []
    clone.functions["random"].block.ops[-1].erase()
    assert print_module(module) == text
    assert verify(module) == []
    assert print_mlir(module).count("\n") > text.count("\n") / 2


@given(st.text(max_size=60), st.integers(0, 400), st.integers(0, 10))
def test_any_text_gets_a_diagnostic_or_is_read(junk: str, position: int, cut: int) -> None:
    text = 'module {\n func @f(%x: i32) {\n %y = tile.add %x, %x : i32 loc("a":1:1)\n control.return\n }\n}\n'
    damaged = text[:position] + junk + text[position + cut :]
    try:
        parse(damaged)
    except CompilationError as problem:
        assert str(problem)  # noqa: PT017
