"""What a backend is made of: the hooks, the values that pass through them, discovery and its results."""

from xdsl_core.backend.handle import BackendHandle
from xdsl_core.backend.hookspecs import hookimpl
from xdsl_core.backend.options import Options, make_options, option_types, unknown_option
from xdsl_core.backend.registry import LoadFailure, Registry, default_registry
from xdsl_core.backend.types import (
    API_VERSION,
    Argument,
    Artifact,
    Availability,
    Available,
    BackendInfo,
    ConformanceConfig,
    Direct,
    Executable,
    Grid,
    Launch,
    Pointer,
    Profile,
    Source,
    Unavailable,
    Waiver,
)
from xdsl_core.backend.waivers import read_waivers

__all__ = [
    "API_VERSION",
    "Argument",
    "Artifact",
    "Availability",
    "Available",
    "BackendHandle",
    "BackendInfo",
    "ConformanceConfig",
    "Direct",
    "Executable",
    "Grid",
    "Launch",
    "LoadFailure",
    "Options",
    "Pointer",
    "Profile",
    "Registry",
    "Source",
    "Unavailable",
    "Waiver",
    "default_registry",
    "hookimpl",
    "make_options",
    "option_types",
    "read_waivers",
    "unknown_option",
]
