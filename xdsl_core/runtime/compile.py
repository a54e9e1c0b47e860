"""From a kernel's source and its argument types to a CompiledKernel, through the cache."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl_core.backend import Artifact, BackendHandle, Options, Source
from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.backend.contract import wrong_result
from xdsl_core.backend.fingerprint import package_fingerprint
from xdsl_core.diagnostics import CompilationError
from xdsl_core.dtypes import DType
from xdsl_core.frontend.specs import ArgumentSpec, CompositeSpec, Constant, PointerSpec, ScalarSpec
from xdsl_core.runtime.cache import DiskCache, StoredKernel, write_kernel
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.effects import Effects, memory_effects
from xdsl_core.target import TargetDescription

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.opdef import OpDef
    from xdsl_core.passes.pass_manager import PassEvent

DUMP = "XDSL_DUMP_IR"
BuildModule = Callable[..., "Module"]


@dataclasses.dataclass(frozen=True)
class Request:
    """Everything that decides what is compiled.

    `build` makes the module: `build(specs, debug=..., operations=...)`; it is only called when needed.
    `dependency_key` is the hash of the source and all it refers to.
    """

    name: str
    build: BuildModule
    dependency_key: str
    specs: Mapping[str, ArgumentSpec]
    backend: BackendHandle
    target: TargetDescription
    options: Options


def compile_request(request: Request) -> CompiledKernel:
    """The compiled kernel, from the disk cache if it is there; raises CompilationError and BackendError.

    With XDSL_DUMP_IR set to a folder, the cache is not read and the IR after every pass is written there.
    """
    request.backend.require_available()
    cache, key, dump = DiskCache(cache_folder()), cache_key(request), os.environ.get(DUMP)
    stored = cache.get(key) if key is not None and not dump else None
    if stored is not None:
        return _kernel(request, stored, _stored_effects(stored.about), from_cache=True)
    with _workdir() as workdir:
        artifact, effects, stages, hints = _compile(
            request, workdir, Path(dump) / request.name if dump else None
        )
        about = _about(request, effects, hints)
        stored = cache.put(key, artifact, about, stages) if key is not None else None
        if stored is not None:
            return _kernel(request, stored, effects, from_cache=False)
        folder = tempfile.TemporaryDirectory(prefix="xdsl_core-")
        stored = write_kernel(Path(folder.name), artifact, about, stages)
    return dataclasses.replace(_kernel(request, stored, effects, from_cache=False), folder=folder)


def _kernel(request: Request, stored: StoredKernel, effects: Effects, *, from_cache: bool) -> CompiledKernel:
    return CompiledKernel(
        request.name,
        request.backend,
        request.target,
        request.options,
        request.specs,
        effects,
        stored,
        from_cache,
    )


def _stored_effects(about: Mapping[str, Any]) -> Effects:
    return Effects(frozenset(about["read"]), frozenset(about["written"]))


def _about(request: Request, effects: Effects, hints: tuple[str, ...]) -> dict[str, Any]:
    followed = request.backend.capabilities(request.target).hints
    return {
        "kernel": request.name,
        "target": str(request.target.target),
        "specs": {name: str(_stable(spec)) for name, spec in request.specs.items()},
        "read": sorted(effects.read),
        "written": sorted(effects.written),
        "hints": {hint: hint.partition("=")[0] in followed for hint in hints},
    }


def own_operations(backend: BackendHandle) -> dict[str, OpDef]:
    """The ops that a backend defines itself, by name."""
    from xdsl_core.ops import opset

    return {one.name: one for one in backend.opset() if one.name not in opset()}


def _compile(
    request: Request, workdir: Path, dump: Path | None
) -> tuple[Artifact, Effects, dict[str, str], tuple[str, ...]]:
    """Runs every stage; the artifact's files may lie in `workdir`. The last value is the hints given."""
    from xdsl_core.ir.printer import print_module
    from xdsl_core.passes.pass_manager import run_pipeline
    from xdsl_core.target.legality import check

    backend, target, options = request.backend, request.target, request.options
    module = request.build(request.specs, debug=options.debug, operations=own_operations(backend))
    refused = check(module, backend.capabilities(target), backend=backend.name)
    if refused:
        raise CompilationError(refused)
    hints = tuple(hint for one in module.functions.values() for hint in one.attributes.get("hints", ()))
    effects, stages = memory_effects(module), {"tile": print_module(module, locations=False)}
    pipeline = backend.pipeline(target, options)
    module = run_pipeline(module, pipeline, dump_dir=dump, observers=(_observer(backend),)).module
    if pipeline.passes:
        stages["lowered"] = print_module(module, locations=False)
    source = backend.codegen(module, target, backend.templates(target), options)
    stages.setdefault(source.language, source.text)
    artifact = _checked(backend.compile(source, target, options, workdir), source, backend)
    return artifact, effects, stages, hints


def _checked(artifact: Artifact, source: Source, backend: BackendHandle) -> Artifact:
    """The artifact, once its metadata is known to be JSON-able."""
    try:
        json.dumps(dict(artifact.metadata))
    except (TypeError, ValueError) as cause:
        raise wrong_result(
            "xdsl_compile",
            f"metadata that JSON cannot hold ({cause})",
            "JSON-able metadata",
            backend=backend.name,
        ) from cause
    return artifact


def _observer(backend: BackendHandle) -> Callable[[PassEvent], None]:
    def tell(event: PassEvent) -> None:
        if event.stage == "started":
            backend.pass_started(event.name, event.module)
        else:
            backend.pass_finished(event.name, event.module, event.seconds)

    return tell


@contextmanager
def _workdir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="xdsl_core-work-") as folder:
        yield Path(folder)


def cache_key(request: Request) -> str | None:
    """The key of a kernel in the disk cache, or None if another process could not tell it from others.

    Covers the source with all it refers to, the argument types and constants, the options, the target, the
    backend with its tools, and the code of this package.
    """
    from xdsl_core import __version__

    backend = request.backend.fingerprint(request.target)
    specs = {name: _stable(spec) for name, spec in request.specs.items()}
    if backend is None or None in specs.values():
        return None
    facts = [
        __version__,
        package_fingerprint("xdsl_core"),
        request.name,
        request.dependency_key,
        backend,
        type(request.options).__qualname__,
        {
            item.name: repr(getattr(request.options, item.name))
            for item in dataclasses.fields(request.options)
        },
        list(specs.items()),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _stable(spec: ArgumentSpec) -> str | None:
    """Text that means the same in every process; None if there is none."""
    match spec:
        case PointerSpec(element, aligned):
            return f"*{element.name}{'/16' if aligned else ''}"
        case ScalarSpec(dtype, divisible):
            return f"{dtype.name}{'/16' if divisible else ''}"
        case Constant(value):
            return stable_constant(value)
        case CompositeSpec(kind, parts):
            texts = [_stable(part) for part in parts]
            return None if None in texts else f"{kind}({', '.join(map(str, texts))})"


def stable_constant(value: Any) -> str | None:
    """A constant as text that means the same in every process; None if its type offers none."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        items = [stable_constant(item) for item in value]
        return None if None in items else f"({', '.join(map(str, items))})"
    if isinstance(value, DType) or hasattr(value, "primitive_bitwidth"):
        return f"dtype {value!r}"
    key = getattr(value, "dependency_key", None)
    return f"function {key()}" if callable(key) else None
