"""Pages that are generated are fresh, and the policy of stability says what is so."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from xdsl_core.backend import API_VERSION
from xdsl_core.backend.contract import api_version_problem, hook_names
from xdsl_core.backend.hook_reference import document

DOCS = Path(__file__).resolve().parents[2] / "docs"
GENERATED: dict[str, Callable[[], str]] = {"hooks.md": document}


@pytest.mark.parametrize("name", GENERATED)
def test_generated_page_is_fresh(name: str, pytestconfig: pytest.Config) -> None:
    """`pytest tests/meta/test_docs.py --update-golden` writes the pages anew."""
    if pytestconfig.getoption("--update-golden"):
        (DOCS / name).write_text(GENERATED[name](), encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATED[name]()


def test_every_hook_has_a_section_with_its_meaning() -> None:
    page = document()
    for name in hook_names():
        section = page.split(f"\n### {name}\n")[1].split("\n### ")[0]
        assert len(section.split()) > 15, name


def test_the_policy_names_the_version_that_is_there() -> None:
    policy = (DOCS / "stability.md").read_text(encoding="utf-8")
    assert f'now "{API_VERSION}"' in policy
    major, minor = map(int, API_VERSION.split("."))
    assert api_version_problem(f"{major}.{minor}") is None
    assert api_version_problem(f"{major}.{minor + 1}") is not None
    assert api_version_problem(f"{major + 1}.0") is not None


def test_what_the_policy_calls_the_api_is_there() -> None:
    import importlib

    policy = (DOCS / "stability.md").read_text(encoding="utf-8")
    for name in set(re.findall(r"`(xdsl_core(?:\.[a-z_]+)+)`", policy)):
        importlib.import_module(name)
