"""Malformed text gets a diagnostic with code, line and column, whatever is wrong with it."""

from __future__ import annotations

import pytest

from tests.unit.ir.helpers import parse
from tests.unit.ir.test_text import READABLE
from xdsl_core.diagnostics import CompilationError, catalogue


def body(*lines: str) -> str:
    inside = "".join(f"    {line}\n" for line in lines)
    return f"module {{\n  func @f(%x: i32, %p: ptr<f32>, %c: i1) {{\n{inside}    control.return\n  }}\n}}\n"


# the code, and the text with a mark where the caret stands
CASES: dict[str, tuple[str, str]] = {
    "empty text": ("X0302", "¶"),
    "no module": ("X0302", "¶func @f() {}"),
    "character": ("X0301", body("%y = ¶? %x : i32")),
    "open string": ("X0301", body('debug.print {prefix=¶"abc')),
    "escape": ("X0301", body(r'debug.print [%x] {prefix = ¶"\q", hex = true}')),
    "number and letters": ("X0301", body("%y = tile.constant {value = ¶12ab, type = i32} : i32")),
    "missing brace": ("X0302", "module {\n  func @f() {\n    control.return\n¶"),
    "text after the end": ("X0302", "module {}\n¶module {}"),
    "no function name": ("X0302", "module { func ¶f() {} }"),
    "no parameter type": ("X0302", "module { func @f(%x¶) {} }"),
    "parameter type": ("X0303", "module { func @f(%x: ¶int) {} }"),
    "not an op": ("X0302", body("%y = ¶%x")),
    "unknown op": ("X0304", body("%y = ¶tile.ad %x, %x : i32")),
    "no equals": ("X0302", body("%y ¶tile.add %x, %x : i32")),
    "undefined": ("X0305", body("%y = tile.add %x, ¶%z : i32")),
    "undefined in brackets": ("X0305", body("debug.print [¶%z]")),
    "own result": ("X0305", body("%y = tile.add ¶%y, %x : i32")),
    "defined twice": ("X0306", body("%y = tile.neg %x : i32", "¶%y = tile.neg %x : i32")),
    "shadowed parameter": ("X0306", body("¶%x = tile.neg %x : i32")),
    "same result twice": ("X0306", body("%y, ¶%y = tile.argmax %x {axis = 0} : (i32, i32)")),
    "missing operand": ("X0307", body("%y = ¶tile.add %x : i32")),
    "no operand": ("X0307", body("%y = ¶tile.add : i32")),
    "surplus operand": ("X0307", body("%y = tile.add %x, %x, ¶%x : i32")),
    "unknown slot": ("X0307", body("%y = memory.load %p, ¶mark = %c : f32")),
    "slot twice": ("X0307", body("%y = memory.load %p, mask = %c, ¶mask = %c : f32")),
    "variadic without brackets": ("X0302", body("control.for %x, %x, %x, inits = ¶%x body {}")),
    "no result name": ("X0308", body("¶tile.add %x, %x : i32")),
    "no result type": ("X0308", body("%y = ¶tile.add %x, %x")),
    "result of an op without": ("X0308", body("%y = ¶debug.print [%x]")),
    "too many names": ("X0308", body("%y, %z = ¶tile.add %x, %x : (i32, i32)")),
    "too few types": ("X0308", body("%y, %z = ¶control.if %c : i32 then { control.yield } otherwise {}")),
    "result type": ("X0303", body("%y = tile.add %x, %x : ¶i33")),
    "no region": ("X0309", body("control.if %c", "¶%y = tile.neg %x : i32")),
    "second region": ("X0309", body("control.if %c then { control.yield } ¶else { control.yield }")),
    "region argument": ("X0302", body("control.if %c then (¶x: i32) { control.yield }")),
    "inner value outside": (
        "X0305",
        body(
            "control.if %c then { %y = tile.neg %x : i32 control.yield } otherwise { control.yield }",
            "%z = tile.neg ¶%y : i32",
        ),
    ),
    "attribute": ("X0310", body("%y = tile.constant {value = ¶yes, type = i32} : i32")),
    "value as attribute": ("X0310", body("%y = tile.constant {value = ¶%x, type = i32} : i32")),
    "large float": ("X0310", body("%y = tile.constant {value = ¶1e999, type = f32} : f32")),
    "endless number": ("X0310", "module attributes {a = ¶" + "9" * 5000 + "} {}"),
    "element type": ("X0303", body("%y = tile.cast %x {to = ¶dtype<f31>} : f32")),
    "attribute twice": ("X0311", body("%y = grid.program_id {axis = 0, ¶axis = 1} : i32")),
    "attribute name": ("X0302", body("%y = grid.program_id {¶[1] = 0} : i32")),
    "function twice": ("X0311", "module { func @f() { control.return } func ¶@f() { control.return } }"),
    "location": ("X0302", body("%y = tile.neg %x : i32 loc(¶kernel.py:1:2)")),
    "location line": ("X0302", body('%y = tile.neg %x : i32 loc("kernel.py":¶-1:2)')),
    "nested regions": (
        "X0312",
        "module{func @f(%c: i1){" + "control.if %c then{" * 99 + "control.if %c then¶{" * 2,
    ),
    "nested attributes": (
        "X0312",
        "module attributes {a = " + "[" * 100 + "¶" + "[" * 5000 + "]" * 5100 + "} {}",
    ),
}


@pytest.mark.parametrize(("code", "marked"), CASES.values(), ids=CASES)
def test_mistake_is_located(code: str, marked: str) -> None:
    before, _, after = marked.rpartition("¶")
    with pytest.raises(CompilationError) as caught:
        parse((before + after).replace("¶", ""))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert diagnostic.code in catalogue()
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) - before.count("¶")
    assert (diagnostic.location.line, diagnostic.location.column) == (line, column)


def test_message_shows_the_line_and_what_is_near() -> None:
    with pytest.raises(CompilationError) as caught:
        parse(body("%y = tile.ad %x, %x : i32"))
    shown = str(caught.value)
    assert "there is no op tile.ad" in shown
    assert "    %y = tile.ad %x, %x : i32" in shown
    assert "^^^^^^^" in shown
    assert "tile.add" in shown


def test_second_definition_shows_the_first() -> None:
    with pytest.raises(CompilationError) as caught:
        parse(body("%y = tile.neg %x : i32", "%y = tile.neg %x : i32"))
    assert "first defined here" in str(caught.value)


def test_every_damaged_text_is_refused_or_read() -> None:
    """Cut or change the readable text anywhere: never anything but a diagnostic."""
    problems: list[CompilationError] = []
    for position in range(0, len(READABLE), 3):
        for damaged in (
            READABLE[:position],
            READABLE[:position] + READABLE[position + 1 :],
            READABLE[:position] + "}" + READABLE[position:],
            READABLE[:position] + '"' + READABLE[position:],
            READABLE[:position] + " %x " + READABLE[position:],
        ):
            try:
                parse(damaged)
            except CompilationError as problem:
                problems.append(problem)
    assert len(problems) > 1000
    assert {problem.code[:3] for problem in problems} == {"X03"}
    assert all(problem.diagnostics[0].location.line >= 1 for problem in problems)
