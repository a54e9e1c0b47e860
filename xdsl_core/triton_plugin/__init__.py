"""This package's backends as a backend of stock Triton: programs run unmodified, through Triton's frontend.

`activate()` puts it in place for the process: `xdslc run --triton SCRIPT`,
`pytest -p xdsl_core.triton_plugin.pytest` and the environment variable XDSL_TRITON=1 do, nothing else does.
`compiler` and `driver` are the two modules that Triton imports for a backend, `program` compiles what they
hand over, `launcher` runs it, `clock` answers benchmarks.
"""

from xdsl_core.triton_plugin.activation import activate

__all__ = ["activate"]
