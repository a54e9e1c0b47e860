"""A pytest plugin: `pytest -p xdsl_core.triton_plugin.pytest FILES` runs tests of Triton programs."""

from xdsl_core.triton_plugin.activation import activate

activate()
