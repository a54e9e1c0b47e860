"""Reading functions: parameters, places, and what their IR depends on."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

import xdsl_core.language as tl
from tests.unit.language.running import function_from
from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.python.source import MISSING, JitSource, source_of

SCALE = tl.constexpr(2)
settings = ModuleType("settings")
settings.depth = tl.constexpr(3)


def test_parameters() -> None:
    def kernel(x, n: tl.int64, BLOCK: tl.constexpr, GROUP: "tl.constexpr" = 8, flag=tl.constexpr(True)):  # noqa: B008, UP037
        pass

    source = JitSource(kernel, do_not_specialize=["n", 4])
    assert [parameter.name for parameter in source.parameters] == ["x", "n", "BLOCK", "GROUP", "flag"]
    assert [parameter.is_constexpr for parameter in source.parameters] == [False, False, True, True, False]
    assert [parameter.default for parameter in source.parameters] == [MISSING, MISSING, MISSING, 8, True]
    assert [parameter.do_not_specialize for parameter in source.parameters] == [
        False,
        True,
        False,
        False,
        True,
    ]


def test_places_count_lines_and_columns_of_the_file() -> None:
    def kernel(x):
        tl.store(x, 1.0)

    source = JitSource(kernel)
    statement = source.tree.body[0]
    place = source.locate(statement)
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[place.line - 1]
    assert line[place.column : place.end_column] == "tl.store(x, 1.0)"
    assert place.function == "kernel"


def test_decorators_do_not_move_lines() -> None:
    def decorator(option: int):
        return JitSource

    @decorator(
        option=1,
    )
    def kernel(x):
        tl.store(x, 1.0)

    place = kernel.locate(kernel.tree.body[0])
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[place.line - 1]
    assert line.strip() == "tl.store(x, 1.0)"


def test_functions_without_source() -> None:
    namespace: dict[str, object] = {}
    exec("def kernel(x): pass", namespace)
    for function in (namespace["kernel"], lambda x: x):
        with pytest.raises(CompilationError) as caught:
            _ = JitSource(function).tree
        assert caught.value.code == "X0109"


def helper(x):
    return x * SCALE


jit_helper = JitSource(helper)


def _kernel(x):
    tl.store(x, jit_helper(tl.load(x)) + settings.depth)


def test_key_follows_compile_time_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    source = JitSource(_kernel)
    key = source.dependency_key()
    assert source.dependency_key() == key
    assert JitSource(_kernel).dependency_key() == key
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(3))
    changed = source.dependency_key()
    assert changed != key
    monkeypatch.setattr(settings, "depth", tl.constexpr(4))
    assert source.dependency_key() not in (key, changed)
    monkeypatch.undo()
    assert source.dependency_key() == key


def test_key_tells_equal_numbers_of_different_types_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    source = JitSource(_kernel)
    key = source.dependency_key()
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(2.0))
    assert source.dependency_key() != key


def test_key_follows_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(x):
        return x + SCALE

    source = JitSource(_kernel)
    key = source.dependency_key()
    monkeypatch.setitem(globals(), "jit_helper", JitSource(other))
    changed = source.dependency_key()
    assert changed != key
    # the other helper reads the same global
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(5))
    assert source.dependency_key() not in (key, changed)


def test_key_covers_text_defaults_and_language_functions() -> None:
    texts = [
        "def kernel(x, n=1):\n    tl.store(x, n)\n",
        "def kernel(x, n=2):\n    tl.store(x, n)\n",
        "def kernel(x, n=1):\n    tl.store(x + 1, n)\n",
        "def kernel(x, n: tl.constexpr = 1):\n    tl.store(x, n)\n",
    ]
    keys = {JitSource(function_from(text)).dependency_key() for text in texts}
    assert len(keys) == len(texts)
    assert JitSource(function_from(texts[0])).dependency_key() in keys


def test_key_of_functions_that_call_each_other() -> None:
    text = "def even(n: tl.constexpr):\n    return True if n == 0 else odd(n - 1)\n"
    other = "def odd(n: tl.constexpr):\n    return False if n == 0 else even(n - 1)\n"
    even = function_from(text)
    odd = function_from(other)
    first, second = JitSource(even), JitSource(odd)
    even.__globals__["odd"] = second
    odd.__globals__["even"] = first
    assert first.dependency_key() != second.dependency_key()


class Sizes:
    block = 4


@tl.constexpr_function
def _doubled(n):
    return n * FACTOR


FACTOR = 2


def test_key_follows_classes_and_compile_time_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(x):
        tl.store(x + tl.arange(0, _doubled(Sizes.block)), 0.0)

    source = JitSource(kernel)
    key = source.dependency_key()
    monkeypatch.setattr(Sizes, "block", 8)
    assert source.dependency_key() != key
    monkeypatch.undo()
    assert source.dependency_key() == key
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert source.dependency_key() != key


def test_key_covers_functions_added_to_the_language() -> None:
    def make(times: str) -> JitSource:
        text = f"def grow(context, x: 'Operand'):\n    return tl.mul.apply(context, (x, {times}), {{}})\n"
        return JitSource(
            function_from(
                "def kernel(x):\n    tl.store(x, grow(tl.load(x)))\n", grow=tl.builtin(function_from(text))
            )
        )

    assert make("2").dependency_key() == make("2").dependency_key()
    assert make("2").dependency_key() != make("3").dependency_key()


def test_key_sees_variables_of_enclosing_functions() -> None:
    def make(size: int) -> JitSource:
        width = tl.constexpr(size)

        def kernel(x):
            tl.store(x + tl.arange(0, width), 0.0)

        return JitSource(kernel)

    assert make(4).dependency_key() == make(4).dependency_key()
    assert make(4).dependency_key() != make(8).dependency_key()


def test_what_counts_as_a_helper() -> None:
    class Wrapper:
        source = jit_helper

    assert source_of(jit_helper) is jit_helper
    assert source_of(Wrapper()) is jit_helper
    assert source_of(tl.cdiv) is source_of(tl.cdiv)
    assert source_of(tl.load) is None
    assert source_of(3) is None
