"""The machines cpu_c compiles for: the host, and others that a library can be built for from here."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from xdsl_core.backend.host import describe_host
from xdsl_core.backend.toolchain import (
    NATIVE_FLAGS,
    Compiler,
    NoCompilerError,
    describe_compiler,
    find_compiler,
)

HOST = "host"


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of processor: its architecture (of `uname -m`) and instruction sets (of /proc/cpuinfo).

    `vector_bytes` is its widest vector register. `flags` tell gcc and clang, `zig_flags` zig, what they may
    use; empty for the host, whose compiler finds out. `source` says where the facts are from.
    """

    name: str
    title: str
    architecture: str
    isa: tuple[str, ...]
    vector_bytes: int
    flags: tuple[str, ...] = ()
    zig_flags: tuple[str, ...] = ()
    source: str = ""


_PSABI = "x86-64 psABI, section 3.1.1: micro-architecture levels (gitlab.com/x86-psABIs/x86-64-ABI)"
_V3 = ("sse2", "avx", "avx2", "fma", "f16c")
FOREIGN: Mapping[str, Machine] = MappingProxyType(
    {
        machine.name: machine
        for machine in (
            Machine(
                "x86_64_v3", "x86-64 with AVX2", "x86_64", _V3, 32,
                ("-march=x86-64-v3",), ("-target", "x86_64-linux-gnu", "-mcpu=x86_64_v3"), _PSABI,
            ),
            Machine(
                "x86_64_v4", "x86-64 with AVX-512", "x86_64", (*_V3, "avx512f", "avx512bw"), 64,
                ("-march=x86-64-v4",), ("-target", "x86_64-linux-gnu", "-mcpu=x86_64_v4"), _PSABI,
            ),
            Machine(
                "aarch64", "64-bit Arm with NEON", "aarch64", ("neon",), 16,
                ("-march=armv8-a",), ("-target", "aarch64-linux-gnu"),
                "Arm Architecture Reference Manual, Armv8-A: Advanced SIMD has 128-bit registers",
            ),
        )
    }
)  # fmt: skip
"""Machines besides the host, by the name of their target."""


@cache
def host_machine() -> Machine:
    """The machine this runs on."""
    host = describe_host()
    return Machine(HOST, host.model, host.architecture, host.vector_isa, host.vector_bytes)


def machine_of(target: str) -> Machine:
    """The machine that a target of cpu_c names."""
    return host_machine() if target == HOST else FOREIGN[target]


def runs_here(machine: Machine) -> bool:
    """Whether this machine has what code for `machine` needs."""
    host = host_machine()
    return machine.architecture == host.architecture and set(machine.isa) <= set(host.isa)


def compiler_for(machine: Machine, cache_dir: Path) -> Compiler:
    """A C compiler for a machine. Raises NoCompilerError.

    The one of the host does for its own architecture; for another one it is the cross compiler of the
    system's packages, else the one inside the package ziglang.
    """
    if machine.name == HOST:
        return find_compiler(cache_dir=cache_dir)
    if machine.architecture == host_machine().architecture:
        return _aimed(find_compiler(cache_dir=cache_dir), machine)
    for command in _cross_compilers(machine):
        return _aimed(describe_compiler(command, cache_dir=cache_dir), machine)
    package = f"gcc-{machine.architecture.replace('_', '-')}-linux-gnu"
    raise NoCompilerError(
        f"there is no C compiler for {machine.architecture} on this machine",
        f"install one (Debian, Ubuntu: apt install {package}), or run `pip install ziglang`",
    )


def _cross_compilers(machine: Machine) -> Iterator[tuple[str, ...]]:
    for kind in ("gcc", "clang"):
        found = shutil.which(f"{machine.architecture}-linux-gnu-{kind}")
        if found is not None:
            yield (found,)
    if find_spec("ziglang") is not None:
        yield (sys.executable, "-m", "ziglang", "cc")


def _aimed(compiler: Compiler, machine: Machine) -> Compiler:
    """The compiler with the machine's flags in place of those for the host's own processor."""
    kept = tuple(flag for flag in compiler.flags if flag not in NATIVE_FLAGS)
    flags = machine.zig_flags if compiler.kind == "zig" else machine.flags
    return dataclasses.replace(compiler, flags=(*kept, *flags))
