"""Declares a parameter that the hook does not have."""

from xdsl_core.backend import BackendInfo, hookimpl


@hookimpl
def xdsl_backend_info(verbose):
    return BackendInfo("bad_signature", "0.1", "1.0")
