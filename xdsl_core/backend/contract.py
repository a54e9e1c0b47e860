"""The hooks as a table: which a backend must have, what each returns, and the check of what it returned."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from xdsl_core.backend import hookspecs
from xdsl_core.backend.options import Options
from xdsl_core.backend.types import (
    API_VERSION,
    Artifact,
    Available,
    BackendInfo,
    ConformanceConfig,
    Executable,
    Launch,
    Profile,
    Source,
    Unavailable,
)
from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import Capabilities, TargetDescription


def _pipeline_types() -> tuple[type, ...]:
    from xdsl_core.passes import Pipeline

    return (Pipeline,)


@dataclass(frozen=True, slots=True)
class Contract:
    """What is promised about one hook: `types` gives the classes its result may have."""

    name: str
    must: bool
    types: Callable[[], tuple[type, ...]]


def _returns(*types: type) -> Callable[[], tuple[type, ...]]:
    return lambda: types


CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {
        contract.name: contract
        for contract in (
            Contract("xdsl_backend_info", True, _returns(BackendInfo)),
            Contract("xdsl_availability", True, _returns(Available, Unavailable)),
            Contract("xdsl_targets", True, _returns(tuple)),
            Contract("xdsl_capabilities", True, _returns(Capabilities)),
            Contract("xdsl_pipeline", True, _pipeline_types),
            Contract("xdsl_templates", False, _returns(Mapping)),
            Contract("xdsl_codegen", True, _returns(Source)),
            Contract("xdsl_compile", True, _returns(Artifact)),
            Contract("xdsl_build_library", False, _returns(Artifact)),
            Contract("xdsl_load", False, _returns(Executable)),
            Contract("xdsl_launch", True, _returns(Launch)),
            Contract("xdsl_profile", False, _returns(Profile)),
            Contract("xdsl_conformance", False, _returns(ConformanceConfig)),
        )
    }
)


@cache
def hook_names() -> tuple[str, ...]:
    """All hooks there are, observers included."""
    return tuple(name for name in vars(hookspecs) if name.startswith("xdsl_"))


@cache
def signature(hook: str) -> str:
    """How a hook is declared, for messages."""
    return f"{hook}({', '.join(inspect.signature(getattr(hookspecs, hook)).parameters)})"


def checked(hook: str, value: Any, *, backend: str) -> Any:
    """`value`, if it is of a type that `hook` may return; else BackendError X0608 that names the backend."""
    wanted = CONTRACTS[hook].types()
    if not isinstance(value, wanted):
        words = " or ".join(kind.__name__ for kind in wanted)
        raise wrong_result(hook, f"a {type(value).__name__} ({value!r:.60})", words, backend=backend)
    inner = _INNER.get(hook)
    if inner is not None:
        inner(value, backend)
    return value


def wrong_result(hook: str, found: str, wanted: str, *, backend: str) -> BackendError:
    """The error for a hook that returned something else than it promised."""
    problem = error(
        "X0608",
        f"backend {backend}: {hook} returned {found}",
        requires=wanted,
        help=f"report it to the authors of {backend}; xdsl_core/backend/hookspecs.py documents the hook",
    )
    return BackendError(problem)


def _check_info(info: BackendInfo, backend: str) -> None:
    kind: Any = info.options
    if not (isinstance(kind, type) and issubclass(kind, Options)):
        raise wrong_result(
            "xdsl_backend_info", f"options={info.options!r}", "a class deriving from Options", backend=backend
        )


def _check_targets(targets: tuple[Any, ...], backend: str) -> None:
    hook, names = "xdsl_targets", [getattr(target, "name", "") for target in targets]
    wrong = [target for target in targets if not isinstance(target, TargetDescription)]
    if wrong or not targets:
        found = f"a {type(wrong[0]).__name__} among the targets" if wrong else "no target"
        raise wrong_result(hook, found, "at least one TargetDescription, and nothing else", backend=backend)
    if len(set(names)) < len(names):
        raise wrong_result(hook, f"the names {', '.join(names)}", "names that differ", backend=backend)
    foreign = [target.backend for target in targets if target.backend != backend]
    if foreign:
        raise wrong_result(
            hook, f"a target of backend {foreign[0]!r}", f"targets of {backend!r}", backend=backend
        )


def _check_templates(templates: Mapping[Any, Any], backend: str) -> None:
    for name, text in templates.items():
        if not (isinstance(name, str) and isinstance(text, str)):
            raise wrong_result(
                "xdsl_templates", f"{name!r}: {text!r:.40}", "a mapping of str to str", backend=backend
            )


_INNER: Mapping[str, Callable[[Any, str], None]] = MappingProxyType(
    {
        "xdsl_backend_info": _check_info,
        "xdsl_targets": _check_targets,
        "xdsl_templates": _check_templates,
    }
)


def api_version_problem(version: str) -> str | None:
    """Why a backend for API `version` cannot be used, or None: same major version, no newer minor."""
    try:
        major, minor = (int(part) for part in version.split("."))
    except (ValueError, AttributeError):
        return f"its API version {version!r} is not of the form '1.0'"
    ours = tuple(int(part) for part in API_VERSION.split("."))
    if (major, minor) > ours or major != ours[0]:
        return f"it was written for API version {version}, this xdsl_core has {API_VERSION}"
    return None
