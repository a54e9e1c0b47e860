"""Every error code is explained, used and tested; every code that is used is explained."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from xdsl_core.diagnostics import catalogue
from xdsl_core.ops import opset

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("xdsl_core", "backends", "conformance")
CODE = re.compile(r"\bX0\d{3}\b")


@cache
def text_of(*folders: str, suffixes: tuple[str, ...] = (".py",)) -> str:
    """All files of the folders, without the catalogue itself."""
    files = [
        path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files if "codes" not in path.parts)


def raised() -> set[str]:
    """The codes that stand in the sources as string literals."""
    return set(re.findall(r"\"(X0\d{3})\"", text_of(*SOURCES)))


def of_constraints() -> set[str]:
    """The codes of the ops' constraints: tests/meta/test_ops.py breaks each by its error samples."""
    return {rule.code for definition in opset() for rule in definition.constraints}


def test_every_code_that_is_raised_is_explained() -> None:
    assert not sorted(raised() - set(catalogue()))


def test_every_code_that_is_explained_is_raised() -> None:
    assert not sorted(set(catalogue()) - raised())


def test_every_code_has_a_test() -> None:
    tested = set(CODE.findall(text_of("tests", suffixes=(".py", ".tile", ".golden", ".txt"))))
    assert not sorted(set(catalogue()) - tested - of_constraints())


def test_an_explanation_says_more_than_the_title() -> None:
    short = {code for code, entry in catalogue().items() if len(entry.explanation) <= len(entry.title)}
    assert not sorted(short)


def test_codes_stand_in_the_file_of_their_family() -> None:
    for path in (ROOT / "xdsl_core/diagnostics/codes").glob("*.py"):
        families = {
            code[:3] for code in re.findall(r"^    \"(X0\d{3})\":", path.read_text("utf-8"), re.MULTILINE)
        }
        assert len(families) <= 1, (path.name, families)
