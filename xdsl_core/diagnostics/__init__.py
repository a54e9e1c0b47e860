"""Errors as data: locations, diagnostics, the renderer and the catalogue of codes."""

from xdsl_core.diagnostics.catalogue import ErrorCode, catalogue, explain
from xdsl_core.diagnostics.debugging import is_debugging, without_frames
from xdsl_core.diagnostics.diagnostic import (
    BackendError,
    CompilationError,
    Diagnostic,
    ExecutionError,
    LaunchError,
    Note,
    XdslError,
    error,
)
from xdsl_core.diagnostics.location import UNKNOWN, Location
from xdsl_core.diagnostics.render import render

__all__ = [
    "UNKNOWN",
    "BackendError",
    "CompilationError",
    "Diagnostic",
    "ErrorCode",
    "ExecutionError",
    "LaunchError",
    "Location",
    "Note",
    "XdslError",
    "catalogue",
    "error",
    "explain",
    "is_debugging",
    "render",
    "without_frames",
]
