"""The C engine as a shared object: built once for this machine, loaded with cffi."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from xdsl_core.backend.cache_folder import cache_folder

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
    text = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in (*_SOURCES, *_MORE_SOURCES))
    command = _compiler()
    key = hashlib.sha256("\0".join([text, *command, *_FLAGS, os.uname().machine]).encode()).hexdigest()[:24]
    path = cache_folder() / "dsa_sim" / f"engine-{key}.so"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    built = path.with_name(f"{path.stem}.{os.getpid()}.so")
    words = [*command, *_FLAGS, str(_FOLDER / "engine.c"), "-o", str(built), "-lm"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except OSError as cause:
        raise NoEngineError(f"the C compiler {command[0]} cannot be started: {cause}") from cause
    if done.returncode:
        raise NoEngineError(f"the C compiler {command[0]} failed: {done.stderr.strip()}")
    os.replace(built, path)
    return path


def _compiler() -> list[str]:
    """The command of a C compiler: $XDSL_CC, $CC, cc, gcc, clang, or the one in the package ziglang."""
    for name in (os.environ.get("XDSL_CC", ""), os.environ.get("CC", ""), "cc", "gcc", "clang"):
        words = shlex.split(name)
        if words and shutil.which(words[0]):
            return words
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise NoEngineError("no C compiler was found")
