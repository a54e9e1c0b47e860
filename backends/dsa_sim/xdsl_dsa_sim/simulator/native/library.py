"""The C engine as a shared object: built once for this machine, loaded with cffi."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.backend.toolchain import (
    CompileFailure,
    NoCompilerError,
    compile_shared,
    find_compiler,
    fingerprint,
)

_FOLDER = Path(__file__).parent
# -ffp-contract=off: times are sums of doubles, and have to be those of the Python engine to the last bit.
_FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-shared")
_SOURCES = ("image.h", "state.h", "geometry.h", "costs.h", "memory.h", "hazards.h", "access.h", "flags.h")
_MORE_SOURCES = ("queues.h", "arithmetic.h", "scalar.h", "engine.c")


class NoEngineError(Exception):
    """The C engine cannot be built here; the message says why."""


@cache
def load() -> tuple[Any, Any]:
    """cffi's `ffi` and the library; raises NoEngineError where there is no C compiler that works."""
    import cffi

    path = _build()
    ffi = cffi.FFI()
    ffi.cdef((_FOLDER / "image.h").read_text(encoding="utf-8"))
    return ffi, ffi.dlopen(str(path))


def is_available() -> bool:
    """Whether the C engine can be used."""
    try:
        load()
    except NoEngineError:
        return False
    return True


def _build() -> Path:
    """The shared object of these sources, compiled unless an earlier process did."""
    folder = cache_folder() / "dsa_sim"
    try:
        compiler = find_compiler(cache_dir=folder)
        text = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in (*_SOURCES, *_MORE_SOURCES))
        key = hashlib.sha256(f"{fingerprint(compiler, flags=_FLAGS)}\0{text}".encode()).hexdigest()[:24]
        path = folder / f"engine-{key}.so"
        if path.exists():
            return path
        source = (_FOLDER / "engine.c").read_text(encoding="utf-8")
        return compile_shared(source, path, compiler=compiler, flags=_FLAGS, extra=(f"-I{_FOLDER}", "-lm"))
    except (NoCompilerError, CompileFailure) as cause:
        raise NoEngineError(str(cause)) from cause
