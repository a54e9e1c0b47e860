"""Every kernel of the test files gives exactly the errors that its lines promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.filecheck.expectations import diagnostics, expected, kernels
from xdsl_core.diagnostics import catalogue, render

FILES = sorted((Path(__file__).parent / "kernels").glob("*.py"))
# codes that no text of a kernel reaches, and where they are tested instead
ELSEWHERE = {
    "X0101": "tests/unit/language/test_builtins.py",
    "X0109": "tests/unit/frontend/test_source.py",
    "X0147": "tests/unit/frontend/test_build.py",
    "X0199": "tests/unit/frontend/test_build.py",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_errors_stand_on_their_lines(path: Path) -> None:
    promised = expected(path)
    found = [problem for kernel in kernels(path).values() for problem in diagnostics(kernel)]
    unexpected = [problem for problem in found if not any(one.met_by(problem) for one in promised)]
    assert not unexpected, "\n\n".join(map(render, unexpected))
    missing = [one for one in promised if not any(one.met_by(problem) for problem in found)]
    assert not missing


def test_every_error_says_how_to_fix_it() -> None:
    for path in FILES:
        for kernel in kernels(path).values():
            for problem in diagnostics(kernel):
                assert any(note.kind == "help" and note.text for note in problem.notes), render(problem)


def test_every_code_of_the_frontend_has_a_case() -> None:
    cases = {one.code for path in FILES for one in expected(path)}
    known = {code for code in catalogue() if code.startswith("X01")}
    assert known - cases == set(ELSEWHERE)
    assert cases <= set(catalogue())
