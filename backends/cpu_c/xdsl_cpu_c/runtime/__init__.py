"""Running compiled kernels: the thread pool, the launchers, and what they agree on."""

from xdsl_cpu_c.runtime.abi import (
    ALIASED,
    BODY_SYMBOL,
    GRID,
    OK,
    ArgumentFault,
    Launcher,
    Parameter,
    ParameterKind,
)
from xdsl_cpu_c.runtime.load import Runtime, load_runtime, make_launcher, threads_from_environment

__all__ = [
    "ALIASED",
    "BODY_SYMBOL",
    "GRID",
    "OK",
    "ArgumentFault",
    "Launcher",
    "Parameter",
    "ParameterKind",
    "Runtime",
    "load_runtime",
    "make_launcher",
    "threads_from_environment",
]
