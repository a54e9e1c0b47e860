"""Loads, but everything it gives back after that is of a wrong type."""

from xdsl_core.backend import API_VERSION, BackendInfo, hookimpl


@hookimpl
def xdsl_backend_info():
    return BackendInfo("wrong_return_type", "0.1", API_VERSION)


@hookimpl
def xdsl_availability():
    return True


@hookimpl
def xdsl_targets():
    return ["chip"]


@hookimpl
def xdsl_capabilities():
    return {"tile.dot": ["f16"]}


@hookimpl
def xdsl_pipeline():
    return ["fuse", "lower"]


@hookimpl
def xdsl_templates():
    return {"kernel.c": b"bytes"}


@hookimpl
def xdsl_codegen():
    return "int main() {}"


@hookimpl
def xdsl_compile():
    return b"\x7fELF"


@hookimpl
def xdsl_build_library():
    return "lib.a"


@hookimpl
def xdsl_load():
    return object()


@hookimpl
def xdsl_launch():
    return None


@hookimpl
def xdsl_profile():
    return 3.5


@hookimpl
def xdsl_conformance():
    return []
