"""`pytest --pyargs xdsl_conformance --backend=acme`: the suite as tests, one a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from xdsl_conformance.case import PROFILES


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suite."""
    group = parser.getgroup("xdsl_conformance", "conformance of a backend of xdsl-core")
    group.addoption("--backend", help="BACKEND or BACKEND:TARGET to examine")
    group.addoption("--profile", default="core", choices=PROFILES, help="which cases (default: core)")
    group.addoption("--waivers", type=Path, help="a TOML file of waivers")
    group.addoption("--at-most", type=int, default=0, help="a sample of this many cases; 0 is all")
