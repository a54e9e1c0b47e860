"""A pytest plugin: `pytest -p xdsl_core.triton_compat.pytest FILES` runs tests of Triton programs.

`import triton` is answered from the time the plugin is loaded, which is before any test file.
"""

from xdsl_core.triton_compat.activation import activate

activate()
