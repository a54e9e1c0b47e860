"""Facts about the machine that runs the kernels: cores, caches, vector instructions.

Read from /proc and /sys on Linux and from `sysctl` on macOS; whatever cannot be read gets a cautious
default, so describing a machine never fails.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Widest first: the first one present decides `vector_bytes`.
_VECTOR_BYTES: Mapping[str, int] = {"avx512f": 64, "avx2": 32, "avx": 32, "sse2": 16, "neon": 16}
_REPORTED_ISA = ("sse2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_bf16", "neon", "sve")
# aarch64 kernels call Advanced SIMD `asimd`; the architecture's own name is NEON.
_ISA_SPELLINGS: Mapping[str, str] = {"asimd": "neon"}
# Instruction sets every machine of the architecture has, for systems that list none.
_BASELINE_ISA: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("sse2",),
    "amd64": ("sse2",),
    "arm64": ("neon",),
    "aarch64": ("neon",),
}
_SIZE_UNITS: Mapping[str, int] = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_CPUINFO_BYTES = 8192  # one processor's entry; reading on would make the kernel poll every core's clock


@dataclass(frozen=True, slots=True)
class CacheLevel:
    """One data or unified cache: size and line in bytes, and the number of logical cores that share it."""

    level: int
    size: int
    line: int = 64
    shared_by: int = 1


# What nearly every 64-bit CPU of the last ten years has at least; used only where the system names no cache.
_DEFAULT_CACHES = (CacheLevel(1, 32 << 10), CacheLevel(2, 256 << 10), CacheLevel(3, 4 << 20, shared_by=2))


@dataclass(frozen=True, slots=True)
class HostDescription:
    """The machine as the code generator sees it; all sizes in bytes.

    `cores` counts the logical cores this process may use, `vector_isa` lists instruction sets in the names of
    /proc/cpuinfo ("avx2", "fma", "f16c", "avx512f", "neon"), `vector_bytes` is the widest vector register.
    """

    model: str
    architecture: str
    cores: int
    caches: tuple[CacheLevel, ...]
    vector_isa: tuple[str, ...]
    vector_bytes: int
    page_size: int

    def cache_size(self, level: int) -> int:
        """Bytes of the data cache at `level` (1, 2, 3), or 0 where the machine has none."""
        return next((cache.size for cache in self.caches if cache.level == level), 0)


@functools.cache
def describe_host(*, root: Path = Path("/")) -> HostDescription:
    """Description of this machine; `root` is where /proc and /sys are looked up. Never fails."""
    info = _processor_entry(root)
    architecture = os.uname().machine
    isa = _vector_isa(info, architecture)
    return HostDescription(
        model=_model_name(info) or architecture,
        architecture=architecture,
        cores=_usable_cores(),
        caches=_caches(root) or _darwin_caches() or _DEFAULT_CACHES,
        vector_isa=isa,
        vector_bytes=next((size for name, size in _VECTOR_BYTES.items() if name in isa), 16),
        page_size=_page_size(),
    )


@functools.cache
def processor_identity(*, root: Path = Path("/")) -> str:
    """All facts of the processor that `-march=native` may depend on, as one line of text for cache keys."""
    info = _processor_entry(root)
    names = ("vendor_id", "cpu family", "model", "model name", "stepping", "CPU implementer", "CPU part")
    facts = [info.get(name, "") for name in names]
    flags = " ".join(sorted(_processor_flags(info)))
    return "|".join([os.uname().machine, *facts, flags or _sysctl("machdep.cpu.brand_string")])


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # absent on macOS
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _page_size() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4096


def _processor_entry(root: Path) -> Mapping[str, str]:
    """Fields of the first processor in /proc/cpuinfo; empty where there is no such file."""
    try:
        with open(root / "proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(_CPUINFO_BYTES).decode("ascii", "replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.strip().split("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _processor_flags(info: Mapping[str, str]) -> frozenset[str]:
    words = (info.get("flags") or info.get("Features") or "").split()
    return frozenset(_ISA_SPELLINGS.get(word, word) for word in words)


def _vector_isa(info: Mapping[str, str], architecture: str) -> tuple[str, ...]:
    flags = _processor_flags(info) or _darwin_flags()
    present = flags | set(_BASELINE_ISA.get(architecture, ()))
    return tuple(name for name in _REPORTED_ISA if name in present)


def _model_name(info: Mapping[str, str]) -> str:
    return info.get("model name") or info.get("Model") or _sysctl("machdep.cpu.brand_string")


def _caches(root: Path) -> tuple[CacheLevel, ...]:
    """Data and unified caches of core 0 as Linux lists them under /sys, smallest level first."""
    found: list[CacheLevel] = []
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index[0-9]*")):
        size = _parse_size(_read(index / "size"))
        if size and _read(index / "type") in ("Data", "Unified"):
            found.append(
                CacheLevel(
                    level=int(_read(index / "level") or 0),
                    size=size,
                    line=int(_read(index / "coherency_line_size") or 64),
                    shared_by=_count_cores(_read(index / "shared_cpu_list")),
                )
            )
    return tuple(sorted(found, key=lambda cache: cache.level))


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _parse_size(text: str) -> int:
    """Bytes in a size as /sys writes it ("32K"); 0 for anything else."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    return int(match[1]) * _SIZE_UNITS[match[2]] if match else 0


def _count_cores(text: str) -> int:
    """Number of cores in a list as /sys writes it ("0-3,8"); 1 for anything else."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return sum(int(last or first) - int(first) + 1 for first, last in ranges) or 1


@functools.cache
def _sysctl(name: str) -> str:
    """Value of a macOS `sysctl` name; empty on other systems and for unknown names."""
    if os.uname().sysname != "Darwin":
        return ""
    import subprocess

    try:
        result = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return result.stdout.strip()


def _darwin_flags() -> frozenset[str]:
    words = f"{_sysctl('machdep.cpu.features')} {_sysctl('machdep.cpu.leaf7_features')}".lower()
    return frozenset(words.replace("avx1.0", "avx").split())


def _darwin_caches() -> tuple[CacheLevel, ...]:
    line = int(_sysctl("hw.cachelinesize") or 64)
    sizes = {1: "hw.l1dcachesize", 2: "hw.l2cachesize", 3: "hw.l3cachesize"}
    found = {level: int(_sysctl(name) or 0) for level, name in sizes.items()}
    return tuple(CacheLevel(level, size, line) for level, size in found.items() if size)
