"""Checks a backend against the contract of the hooks: `xdslc backend check NAME`.

`check_backend` is for a plug-in's own tests:

    def test_contract() -> None:
        assert check_backend(default_registry().get("acme")) == []

It runs every hook the way the runtime does, on a kernel of three ops, and lists what a user would trip over:

* info is cheap and always the same; options have defaults of their own types, can be hashed, and refuse an
  unknown name with the nearest one;
* availability is quick, gives a reason and a fix, and does not raise;
* targets are sound, come with sources, and are the same when asked again;
* claims name ops and dtypes that exist, and are the same when asked again; what is not claimed makes code
  generation refuse with a diagnostic, or work, and nothing else;
* the pipeline and the generated text depend on nothing but the arguments, so does what is compiled;
* templates can be parsed; waivers have reasons;
* an artifact survives storing and loading; `xdsl_launch` and `Executable.direct` do the same.

It says nothing on whether results are right: that is the conformance suite's work.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl_core.backend.dispatch import validate_backend
from xdsl_core.backend.handle import BackendHandle
from xdsl_core.backend.options import Options, make_options, option_types
from xdsl_core.backend.types import Artifact, Available, Pointer, Unavailable
from xdsl_core.diagnostics import BackendError, XdslError
from xdsl_core.target import Capabilities, TargetDescription, problems

if TYPE_CHECKING:
    from xdsl_core.dtypes import DType
    from xdsl_core.ir import Module

_CHEAP_SECONDS = 0.05
_AVAILABILITY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Problem:
    """What a backend does wrong, and in which hook."""

    hook: str
    text: str

    def __str__(self) -> str:
        return f"{self.hook}: {self.text}"


def check_backend(handle: BackendHandle) -> list[Problem]:
    """Everything a backend does that its contract does not allow; an empty list if it keeps it."""
    found: list[Problem] = []
    for hook, check in _CHECKS:
        try:
            found += [Problem(hook, text) for text in check(handle)]
        except XdslError as problem:
            found.append(Problem(hook, problem.diagnostics[0].message))
        except Exception as problem:
            found.append(Problem(hook, f"raised {type(problem).__name__}: {problem}"))
    return found


def _info(handle: BackendHandle) -> Iterator[str]:
    alone = validate_backend(handle.plugin).hook
    started = time.perf_counter()
    again = alone.xdsl_backend_info()
    seconds = time.perf_counter() - started
    if again != handle.info:
        yield f"two calls gave {handle.info} and {again}"
    if seconds > _CHEAP_SECONDS:
        yield f"it took {seconds:.2f} s; it has to be cheap"
    if not handle.info.description:
        yield "there is no description"
    yield from _options(handle.info.options, handle.name)


def _options(kind: type[Options], backend: str) -> Iterator[str]:
    try:
        defaults = kind()
    except TypeError as problem:
        yield f"the options {kind.__name__} need arguments: {problem}"
        return
    try:
        hash(defaults)
    except TypeError:
        yield f"the options {kind.__name__} are not hashable"
    for name in option_types(kind):
        try:
            make_options(kind, {name: getattr(defaults, name)}, backend=backend)
        except BackendError as problem:
            yield f"the default of the option {name}: {problem.diagnostics[0].message}"
    try:
        make_options(kind, {"num_warp": 4}, backend=backend)
    except BackendError as problem:
        if "num_warps" not in str(problem):
            yield "an unknown option is refused without the nearest one that is known"
    else:
        yield "an unknown option is not refused"


def _availability(handle: BackendHandle) -> Iterator[str]:
    alone = validate_backend(handle.plugin).hook
    started = time.perf_counter()
    found = alone.xdsl_availability()
    seconds = time.perf_counter() - started
    if not isinstance(found, (Available, Unavailable)):
        yield f"it returned a {type(found).__name__}, not Available or Unavailable"
    if isinstance(found, Unavailable) and not (found.reason and found.fix):
        yield "Unavailable needs a reason and a fix"
    if seconds > _AVAILABILITY_SECONDS:
        yield f"it took {seconds:.1f} s; it runs before the first launch"


def _targets(handle: BackendHandle) -> Iterator[str]:
    for target in handle.targets():
        yield from (f"{target.target}: {text}" for text in problems(target))
        if not target.name or any(character in target.name for character in ": \t"):
            yield f"the name {target.name!r} cannot be written as backend:name"
        if not target.sources:
            yield f"{target.target}: no number says where it comes from (sources)"
    again = validate_backend(handle.plugin).hook.xdsl_targets()
    if [target.fingerprint() for target in again] != [target.fingerprint() for target in handle.targets()]:
        yield "two calls gave different descriptions, so nothing could be cached"


def _capabilities(handle: BackendHandle) -> Iterator[str]:
    from xdsl_core.dtypes import BY_NAME

    opset = handle.opset()
    for target in handle.targets():
        claims = handle.capabilities(target)
        if not claims.claims:
            yield f"{target.target}: nothing is claimed"
        unknown = sorted({claim.op for claim in claims.claims if claim.op not in opset})
        if unknown:
            yield f"{target.target}: there is no op {', '.join(unknown)}"
        dtypes = sorted({name for claim in claims.claims for name in claim.dtypes if name not in BY_NAME})
        if dtypes:
            yield f"{target.target}: there is no dtype {', '.join(dtypes)}"
        again = validate_backend(handle.plugin).hook.xdsl_capabilities(target=target)
        if again != claims:
            yield f"{target.target}: two calls gave different claims"
        yield from (f"{target.target}: {text}" for text in _refusals(handle, target))


def _refusals(handle: BackendHandle, target: TargetDescription) -> Iterator[str]:
    """An op that is not claimed, given to code generation all the same, as a wrapper's pass might."""
    from xdsl_core.ops import CORE
    from xdsl_core.ops.harness import case_of, is_runnable
    from xdsl_core.passes import run_pipeline
    from xdsl_core.target.legality import check

    claims, options = handle.capabilities(target), handle.options({})
    probes = (case_of(op, op.samples[0]).module for op in CORE if is_runnable(op))
    module = next((module for module in probes if check(module, claims, backend=handle.name)), None)
    if module is None:
        return
    try:
        lowered = run_pipeline(module, handle.pipeline(target, options)).module
        handle.codegen(lowered, target, handle.templates(target), options)
    except XdslError as problem:
        if problem.code == "X0609":  # what the dispatcher makes of any other exception
            name = check(module, claims, backend=handle.name)[0].message
            yield (
                f"({name}) {problem.diagnostics[0].message}; raise CompilationError with what "
                "xdsl_core.target.legality.check finds in the module"
            )


def _pipeline(handle: BackendHandle) -> Iterator[str]:
    options = handle.options({})
    for target in handle.targets():
        first, second = str(handle.pipeline(target, options)), str(handle.pipeline(target, options))
        if first != second:
            yield f"{target.target}: two calls gave '{first}' and '{second}'"


def _templates(handle: BackendHandle) -> Iterator[str]:
    from jinja2 import Environment, TemplateSyntaxError

    for target in handle.targets():
        for name, text in handle.templates(target).items():
            try:
                Environment().parse(text)
            except TemplateSyntaxError as problem:
                yield f"{target.target}: {name}, line {problem.lineno}: {problem.message}"


def _conformance(handle: BackendHandle) -> Iterator[str]:
    for target in handle.targets():
        for waiver in handle.conformance(target).waivers:
            if not waiver.reason:
                yield f"the waiver of {waiver.case} has no reason"


def _path(handle: BackendHandle) -> Iterator[str]:
    """A kernel through codegen, compile, store, load and launch, where the backend can run here."""
    if isinstance(handle.availability(), Unavailable):
        return
    for target in handle.targets():
        dtype = _claimed_dtype(handle.capabilities(target))
        if dtype is None:
            yield f"{target.target}: it claims no dtype with which a kernel could store a constant"
        else:
            yield from (f"{target.target}: {text}" for text in _run_probe(handle, target, dtype))


def _run_probe(handle: BackendHandle, target: TargetDescription, dtype: DType) -> Iterator[str]:
    import numpy as np

    from xdsl_core.passes import run_pipeline

    options, templates = handle.options({}), handle.templates(target)
    sources = []
    for _ in range(2):
        module = run_pipeline(_probe(dtype), handle.pipeline(target, options)).module
        sources.append(handle.codegen(module, target, templates, options))
    if sources[0] != sources[1]:
        yield "xdsl_codegen gave two texts for one module, so nothing could be cached"
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder, "stored")
        compiled = []
        for folder_name in ("work", "again"):
            workdir = Path(folder, folder_name)
            workdir.mkdir()
            artifact = handle.compile(sources[0], target, options, workdir)
            artifact.save(stored)
            compiled.append((dict(artifact.metadata), {name: artifact.read(name) for name in artifact.files}))
        if compiled[0] != compiled[1]:
            yield "xdsl_compile made two artifacts of one source, so caches could not be shared"
        try:
            executable = handle.load(Artifact.load(stored), target)
        except BackendError as problem:
            if problem.code != "X0614":
                raise
            return  # compiled for hardware that is not here
        for direct in (False, True) if executable.direct is not None else (False,):
            array = np.zeros(1, dtype.numpy)
            address, size = int(array.ctypes.data), array.nbytes
            if direct and executable.direct is not None:
                executable.direct((1, 1, 1), (array if executable.takes_objects else address,))
            else:
                argument = Pointer("y", address, dtype, address, size, True, array)
                handle.launch(executable, (1, 1, 1), (argument,), options, kernel="probe")
            if array[0] != 1:
                way = "Executable.direct" if direct else "xdsl_launch"
                yield f"a kernel that stores 1 left {array[0]} behind when run by {way}"


def _claimed_dtype(capabilities: Capabilities) -> DType | None:
    from xdsl_core.dtypes import ALL
    from xdsl_core.target.legality import check

    return next((dtype for dtype in ALL if not check(_probe(dtype), capabilities, backend="")), None)


def _probe(dtype: DType) -> Module:
    """The module of a kernel that stores 1 to where its only parameter points."""
    from xdsl_core.ir import Builder, Function, Module, PointerType, ScalarType
    from xdsl_core.ops import Constant, Return, Store

    module = Module()
    function = module.add(Function("probe", [("y", PointerType(dtype))]))
    builder = Builder(function.block)
    one = 1.0 if dtype.is_float else True if dtype.is_bool else 1
    value = builder.value(Constant, value=one, type=ScalarType(dtype))
    builder.build(Store, function.parameters[0], value)
    builder.build(Return)
    return module


_CHECKS: tuple[tuple[str, Callable[[BackendHandle], Iterator[str]]], ...] = (
    ("xdsl_backend_info", _info),
    ("xdsl_availability", _availability),
    ("xdsl_targets", _targets),
    ("xdsl_capabilities", _capabilities),
    ("xdsl_pipeline", _pipeline),
    ("xdsl_templates", _templates),
    ("xdsl_conformance", _conformance),
    ("xdsl_launch", _path),
)


def main(names: list[str]) -> int:
    """Checks the named backends, or all; prints what is wrong and returns how many are."""
    from xdsl_core.backend.registry import default_registry

    registry, wrong = default_registry(), 0
    for name in names or [handle.name for handle in registry.backends()]:
        found = check_backend(registry.get(name))
        wrong += bool(found)
        print(f"{name}: {'keeps the contract' if not found else f'{len(found)} problems'}")
        for problem in found:
            print(f"  {problem}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
