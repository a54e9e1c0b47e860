"""Random functions with branches, loops and returns give the same numbers in a kernel as in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xdsl_core.language as tl
from tests.unit.language.running import function_from, run
from xdsl_core.frontend.python.source import JitSource

NAMES = ("a", "b", "c", "d")
VALUES = st.sampled_from((*NAMES, "0", "1", "7", "-3"))
CONDITIONS = st.builds("{} {} {}".format, st.sampled_from(NAMES), st.sampled_from(("<", "==", ">=")), VALUES)
# numbers stay small, so that int32 and Python agree
ASSIGNMENTS = st.builds(
    "{} = ({} {} {}) & 255".format, st.sampled_from(NAMES), VALUES, st.sampled_from("+-*^|"), VALUES
)
CHOICES = st.builds("{} = {} if {} else {}".format, st.sampled_from(NAMES), VALUES, CONDITIONS, VALUES)
SWAPS = st.builds("{}, {} = {}, {}".format, *[st.sampled_from(NAMES)] * 4)
RETURNS = st.builds("return ({} * 3 + {}) & 255".format, VALUES, VALUES)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines] or ["    pass"]


@st.composite
def statements(draw: st.DrawFn, depth: int, loops: bool) -> list[str]:
    """A list of lines; no `return` inside loops of the running kernel."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 9))
        if kind < 4 or depth == 0:
            lines.append(draw(st.one_of(ASSIGNMENTS, CHOICES, SWAPS)))
        elif kind < 7:
            lines.append(f"if {draw(CONDITIONS)}:")
            lines += indented(draw(statements(depth - 1, loops)))
            if draw(st.booleans()):
                lines.append("else:")
                lines += indented(draw(statements(depth - 1, loops)))
        elif kind == 7:
            bounds = draw(st.sampled_from(("3", "a & 3", "1, b & 3", "3, -1, -1", "c & 3, 0, -2")))
            lines.append(f"for i in range({bounds}):")
            lines += indented(["c = (c + i) & 255", *draw(statements(depth - 1, True))])
        elif kind == 8:
            lines.append("for j in tl.static_range(2):")
            lines += indented(["d = (d + j) & 255", *draw(statements(depth - 1, loops))])
        elif not loops:
            lines.append(draw(RETURNS))
    return lines


@given(body=statements(3, False), ending=RETURNS)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_kernels_mean_what_python_means(body: list[str], ending: str) -> None:
    text = "\n".join(["def function(a, b, c, d):", *indented([*body, ending])])
    helper = JitSource(function_from(text))

    def kernel(x, out):
        pid = tl.program_id(0)
        a, b = tl.load(x + pid * 2), tl.load(x + pid * 2 + 1)
        tl.store(out + pid, helper(a, b, 5, 2))

    pairs = [(0, 0), (1, 0), (0, 7), (7, 3), (255, 2)]
    out = np.zeros(len(pairs), np.int32)
    run(kernel, np.array(pairs, np.int32), out, grid=(len(pairs),))
    namespace: dict[str, object] = {"tl": type("tl", (), {"static_range": range})}
    exec(text, namespace)
    assert out.tolist() == [namespace["function"](a, b, 5, 2) for a, b in pairs], text
