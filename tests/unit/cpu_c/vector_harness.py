"""Calls vector functions from numpy: one shared object with a loop around every function under test."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xdsl_core.backend.toolchain import KERNEL_FLAGS
from xdsl_cpu_c.vector import ELEMENTS, prelude
from xdsl_cpu_c.vector.prelude import catalogue

# The flags kernels are compiled with; contraction and -O2 are what could break a polynomial.
FLAGS = [*KERNEL_FLAGS, "-march=native"]

C_TYPES = {e.c: e.name for e in ELEMENTS.values()} | {"bool_t": "i32", "int": "i32"}
NUMPY = {
    e.name: np.dtype({"f": "float", "i": "int", "u": "uint"}[e.kind] + str(e.bits)) for e in ELEMENTS.values()
}

Array = NDArray[np.generic]


def compiler() -> str | None:
    return shutil.which("gcc") or shutil.which("cc")


def signature(name: str) -> tuple[str, list[str]]:
    """C result type and parameter types of a function by value."""
    match = re.search(rf"VECTOR_\w+ (\w+) {name}\((.*?)\) {{", catalogue()[name].render())
    assert match, name
    parameters = [p.rsplit(" ", 1)[0] for p in match[2].split(", ") if p != "void"]
    return match[1], parameters


def shape(c: str) -> tuple[str, int]:
    """Element and lanes of a C type."""
    if c in C_TYPES:
        return C_TYPES[c], 1
    element, lanes = c.split("x")
    return element, int(lanes)


def driver(name: str) -> tuple[str, list[str]]:
    """A C loop that applies `name` to arrays, and the functions it needs."""
    result, parameters = signature(name)
    needs, arguments = [name], []
    for k, parameter in enumerate(parameters):
        element, lanes = shape(parameter)
        c = ELEMENTS[element].c
        if lanes == 1:
            arguments.append(f"((const {c} *)in[{k}])[i]")
        else:
            needs.append(f"load_{element}_{parameter}")
            arguments.append(f"load_{element}_{parameter}((const {c} *)in[{k}] + i * {lanes})")
    element, lanes = shape(result)
    c, call = ELEMENTS[element].c, f"{name}({', '.join(arguments)})"
    if lanes == 1:
        statement = f"(({c} *)out)[i] = {call};"
    else:
        needs.append(f"store_{element}_{result}")
        statement = f"store_{element}_{result}(({c} *)out + i * {lanes}, {call});"
    head = f"void drive_{name}(void *out, const void **in, long n)"
    return f"{head} {{ for (long i = 0; i < n; ++i) {statement} }}\n", needs


def build(folder: Path, source: str, stem: str = "functions") -> ctypes.CDLL:
    """Shared object of C text."""
    path = folder / f"{stem}.c"
    path.write_text(source)
    command = compiler()
    assert command
    library = path.with_suffix(".so")
    subprocess.run(
        [command, *FLAGS, "-Wall", "-Werror", "-Wno-unused-function", path, "-o", library, "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


class Functions:
    """The functions of the given names, callable on arrays of equal length."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        drivers = {name: driver(name) for name in names}
        needs = [need for _, needed in drivers.values() for need in needed]
        self._library = build(folder, prelude(needs) + "".join(text for text, _ in drivers.values()))

    def __call__(self, name: str, *arrays: Array) -> Array:
        """Apply to flat arrays; a result of one scalar a vector has one element for each vector."""
        result, parameters = signature(name)
        blocks = None
        pointers, keep = [], []
        for parameter, array in zip(parameters, arrays, strict=True):
            element, lanes = shape(parameter)
            flat = np.ascontiguousarray(array, dtype=NUMPY[element])
            assert flat.size % lanes == 0, (name, flat.size)
            assert blocks in (None, flat.size // lanes), name
            blocks = flat.size // lanes
            keep.append(flat)
            pointers.append(flat.ctypes.data)
        element, lanes = shape(result)
        blocks = blocks or 1
        out = np.empty(blocks * lanes, NUMPY[element])
        table = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        getattr(self._library, f"drive_{name}")(
            ctypes.c_void_p(out.ctypes.data), table, ctypes.c_long(blocks)
        )
        return out
