"""Loads the suite's pytest plugin in runs that name the suite, and leaves all others alone.

A plugin of the group pytest11 is in every run of every project: its options would clash with theirs.
"""

from __future__ import annotations

import os
import sys

import pytest

# What tells the worker processes of pytest-xdist, whose command line is another one.
_NAMED = "XDSL_CONFORMANCE_NAMED"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Loads the plugin, which adds its options, if the command line names the suite."""
    if os.environ.get(_NAMED) or any("xdsl_conformance" in argument for argument in sys.argv[1:]):
        os.environ[_NAMED] = "1"
        pluginmanager.import_plugin("xdsl_conformance.pytest_plugin")
