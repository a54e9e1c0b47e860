"""Building and loading the runtime library and the launcher, once per machine and once per process."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from types import ModuleType

from xdsl_core.backend.toolchain import CompileFailure, Compiler, compile_shared, fingerprint
from xdsl_cpu_c.runtime import fallback
from xdsl_cpu_c.runtime.abi import BODY_SYMBOL, ArgumentFault, Launcher, Parameter
from xdsl_cpu_c.runtime.extent import extent_of

SOURCES: Mapping[str, Path] = {name: Path(__file__).parent / name for name in ("pool.c", "launcher.c")}
"""The runtime's C texts: the thread pool, which libraries take with them, and the launcher for Python."""

_EXTENSION_NAME = "_cpu_c_launcher"
# macOS resolves Python's symbols when the extension is loaded, which its linker must be told.
_EXTENSION_LINK: Mapping[str, tuple[str, ...]] = {"Darwin": ("-undefined", "dynamic_lookup")}


class ThreadsError(ValueError):
    """XDSL_NUM_THREADS is `text`, which is no number of threads."""

    def __init__(self, text: str) -> None:
        super().__init__(f"XDSL_NUM_THREADS must be a positive whole number, not {text!r}")
        self.text = text


@dataclass(frozen=True, slots=True)
class Runtime:
    """The loaded runtime: makes launchers, loads kernels, sets the number of threads.

    `library` is the path of the runtime library, for programs that link it; `compiled` says whether
    launchers are the compiled ones.
    """

    library: Path
    compiled: bool
    make_launcher: Callable[..., Launcher]
    load_symbol: Callable[[str, str], int]
    set_threads: Callable[[int], None]
    threads: Callable[[], int]

    def load_body(self, path: Path) -> int:
        """Address of the kernel body in a shared object, which stays loaded. Raises OSError."""
        return self.load_symbol(os.fspath(path), BODY_SYMBOL)


def make_launcher(
    body_address: int, parameters: tuple[Parameter, ...], runtime: Runtime, *, aliased_ok: bool = False
) -> Launcher:
    """Launcher of the kernel body at an address; with `aliased_ok` it never answers ALIASED."""
    return runtime.make_launcher(body_address, parameters, aliased_ok=aliased_ok)


def load_runtime(cache_dir: Path, compiler: Compiler, *, compiled: bool = True) -> Runtime:
    """Build what `cache_dir` does not hold yet and load it; the same arguments give the same Runtime.

    `compiled=False` takes the launcher in Python. The number of threads is $XDSL_NUM_THREADS, else one per
    usable core. Raises CompileFailure if the runtime library cannot be built, ThreadsError for a bad
    XDSL_NUM_THREADS, OSError where files cannot be written or loaded.
    """
    threads = threads_from_environment(os.environ)
    runtime = _load(cache_dir, compiler, compiled)
    if threads:
        runtime.set_threads(threads)
    return runtime


def threads_from_environment(environ: Mapping[str, str]) -> int:
    """Number of threads that XDSL_NUM_THREADS asks for, 0 if it is not set. Raises ThreadsError."""
    text = environ.get("XDSL_NUM_THREADS", "").strip()
    if not text:
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise ThreadsError(text)
    return int(text)


@functools.cache
def _load(cache_dir: Path, compiler: Compiler, compiled: bool) -> Runtime:
    library = build_library(cache_dir, compiler)
    extension = build_extension(cache_dir, compiler) if compiled else None
    if extension is None:
        return _fallback_runtime(library)
    return _compiled_runtime(library, _import_extension(extension))


def build_library(cache_dir: Path, compiler: Compiler) -> Path:
    """The runtime library in `cache_dir`, built if it is not there. Raises CompileFailure."""
    return _build("pool.c", cache_dir, "libxdsl_runtime", compiler, lambda: ("-pthread",))


def build_extension(cache_dir: Path, compiler: Compiler) -> Path | None:
    """The compiled launcher in `cache_dir`, built if it is not there; None where it cannot be built."""
    name = f"{_EXTENSION_NAME}{EXTENSION_SUFFIXES[0].removesuffix('.so')}"
    try:
        return _build("launcher.c", cache_dir, name, compiler, _extension_options, salt=sys.base_prefix)
    except CompileFailure:  # no headers that fit: the launcher in Python does the same
        return None


def _extension_options() -> tuple[str, ...]:
    import sysconfig

    folders = dict.fromkeys([sysconfig.get_path("include"), sysconfig.get_path("platinclude")])
    return (*(f"-I{folder}" for folder in folders), *_EXTENSION_LINK.get(os.uname().sysname, ()), "-ldl")


def _build(
    source: str,
    cache_dir: Path,
    name: str,
    compiler: Compiler,
    options: Callable[[], tuple[str, ...]],
    *,
    salt: str = "",
) -> Path:
    text = SOURCES[source].read_text()
    identity = hashlib.sha256(f"{fingerprint(compiler)}\0{salt}\0{text}".encode()).hexdigest()
    output = cache_dir / f"{name}-{identity[:24]}.so"
    return output if output.exists() else compile_shared(text, output, compiler=compiler, extra=options())


def _import_extension(path: Path) -> ModuleType:
    from importlib.util import module_from_spec, spec_from_loader

    loader = ExtensionFileLoader(_EXTENSION_NAME, os.fspath(path))
    spec = spec_from_loader(_EXTENSION_NAME, loader)
    assert spec is not None  # a loader was given
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _compiled_runtime(library: Path, module: ModuleType) -> Runtime:
    import ctypes

    launch = module.load_symbol(os.fspath(library), "xdsl_launch")
    set_threads = ctypes.CFUNCTYPE(None, ctypes.c_int)(
        module.load_symbol(os.fspath(library), "xdsl_set_threads")
    )
    threads = ctypes.CFUNCTYPE(ctypes.c_int)(module.load_symbol(os.fspath(library), "xdsl_threads"))

    def make(body_address: int, parameters: tuple[Parameter, ...], *, aliased_ok: bool) -> Launcher:
        rows = tuple((p.kind, p.written, p.read, p.itemsize, p.bits, p.signed) for p in parameters)
        launcher: Launcher = module.Launcher(body_address, launch, rows, extent_of, ArgumentFault, aliased_ok)
        return launcher

    return Runtime(library, True, make, module.load_symbol, set_threads, threads)


def _fallback_runtime(path: Path) -> Runtime:
    library = fallback.open_library(os.fspath(path))

    def make(body_address: int, parameters: tuple[Parameter, ...], *, aliased_ok: bool) -> Launcher:
        return fallback.FallbackLauncher(body_address, parameters, library, aliased_ok=aliased_ok)

    load_symbol = functools.partial(fallback.load_symbol, library)
    functions = library.functions
    return Runtime(path, False, make, load_symbol, functions.xdsl_set_threads, functions.xdsl_threads)
