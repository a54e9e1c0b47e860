"""Complete, but written for an API of the future."""

from xdsl_core.backend import BackendInfo, hookimpl


@hookimpl
def xdsl_backend_info():
    return BackendInfo("wrong_api_version", "0.1", "2.0")


def _never():
    raise AssertionError("a hook of a backend with the wrong API version was called")


@hookimpl
def xdsl_availability():
    _never()


@hookimpl
def xdsl_targets():
    _never()


@hookimpl
def xdsl_capabilities():
    _never()


@hookimpl
def xdsl_pipeline():
    _never()


@hookimpl
def xdsl_codegen():
    _never()


@hookimpl
def xdsl_compile():
    _never()


@hookimpl
def xdsl_launch():
    _never()
