"""Runs a pass on the body of a function, given and expected as text."""

from __future__ import annotations

from pathlib import Path

from xdsl_core.ir import Module, parse_module, print_module, verify
from xdsl_core.ops import opset
from xdsl_core.passes import Pass

PARAMETERS = (
    "%x: i32, %y: i32, %n: i32, %u: u8, %l: i64, %f: f32, %g: f32, %h: f16, %c: i1, %d: i1, "
    "%p: ptr<f32>, %ip: ptr<i32>, %t: tile<8xi32>, %ft: tile<8xf32>, %ht: tile<8xf16>, %m: tile<8xi1>, "
    "%s: tile<4x2xf32>, %pt: tile<8xptr<f32>>, %it: tile<8xptr<i32>>"
)
CASES = Path(__file__).parent / "cases"
HEAD = f"module {{\n  func @f({PARAMETERS}) {{\n"


def function(body: str) -> Module:
    """A module whose only function has the parameters above and this body; a return is added."""
    return parse_module(f"{HEAD}{body}\ncontrol.return }} }}", opset())


def body_of(module: Module) -> str:
    """The body without the return, one op a line; names of values are replaced by numbers."""
    for op in module.walk():
        arguments = (value for region in op.regions for block in region.blocks for value in block.arguments)
        for value in (*op.results, *arguments):
            value.name = ""
    lines = print_module(module).split("\n")[2:-4]
    return "\n".join(line[4:] for line in lines)


def after(step: Pass, body: str) -> str:
    """The body that a pass makes of a body; both must be valid."""
    module = function(body)
    assert verify(module) == []
    result = step.run(module)
    assert result is None
    assert verify(module) == []
    return body_of(module)


def tidy(body: str) -> str:
    """A body as the printer writes it."""
    return body_of(function(body))


def cases(name: str) -> dict[str, tuple[str, str]]:
    """The cases of a pass by their title: the body before, and after it (the same where it stays)."""
    found = {}
    for section in (CASES / f"{name}.tile").read_text(encoding="utf-8").split("// case: ")[1:]:
        title, _, rest = section.partition("\n")
        before, becomes, expected = rest.partition("// becomes\n")
        if not becomes:
            before, stays, _ = rest.partition("// stays\n")
            assert stays, f"{name}: {title} says neither what it becomes nor that it stays"
            expected = before
        assert title not in found, f"{name}: {title} stands there twice"
        found[title] = before, expected
    return found
