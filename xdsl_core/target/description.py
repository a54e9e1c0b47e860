"""What a chip is made of, as data: memory spaces, data paths, compute units, limits."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from xdsl_core.diagnostics import BackendError, error

# The names kernels may ask for, whatever the vendor calls the memory.
PORTABLE_SPACES: Mapping[str, str] = MappingProxyType(
    {
        "GLOBAL": "device memory that every program reads and writes",
        "SHARED": "on-chip memory of a core that feeds the matrix unit (L1)",
        "LEFT": "left operand buffer of the matrix unit (L0A)",
        "RIGHT": "right operand buffer of the matrix unit (L0B)",
        "ACC": "accumulator of the matrix unit (L0C)",
        "VECTOR": "on-chip memory of the vector unit (UB)",
    }
)
OWNERS = ("core", "cluster", "device")
UNIT_KINDS = ("matrix", "vector", "scalar")


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """The name of a machine: `backend:name`. An empty `name` means the backend's default target."""

    backend: str
    name: str = ""

    @staticmethod
    def parse(text: str) -> Target:
        """The target that `text` names: "backend:name" or "backend"; BackendError X0605 if malformed."""
        backend, colon, name = text.strip().partition(":")
        if not backend or (colon and not name) or ":" in name or any(c.isspace() for c in text.strip()):
            problem = error(
                "X0605",
                f"{text!r} is not a target",
                requires="backend:name, or backend alone for its default target",
                help='write for example "cpu_c" or "dsa_sim:ascend910b2"; `xdslc targets` lists them',
            )
            raise BackendError(problem)
        return Target(backend, name)

    def __str__(self) -> str:
        return f"{self.backend}:{self.name}" if self.name else self.backend


@dataclass(frozen=True, slots=True)
class MemorySpace:
    """A memory with its own addresses.

    `name` is the vendor's, `portable` the name kernels use (a key of PORTABLE_SPACES, or empty where kernels
    cannot ask for it). `capacity` is in bytes for one owner; `alignment` in bytes; `owner` says who has one:
    each core, each cluster, or the device. `banks` of 1 means that conflicts are not modelled. `core` is the
    kind of core that has it, "" for every kind.
    """

    name: str
    portable: str
    capacity: int
    alignment: int = 1
    owner: str = "core"
    banks: int = 1
    core: str = ""


@dataclass(frozen=True, slots=True)
class DataPath:
    """A way for data between two spaces: one engine's bytes a cycle after `latency` cycles.

    `layout_change` names the rearrangement the path can do on the way ("" for none), such as
    "row_major->Nz", which costs at least `row_cycles` for every row. `conversions` are dtypes it can convert,
    such as "f32->f16". Two transfers start at least `issue` cycles apart. `core` is the kind of core it
    belongs to, "" for every kind.
    """

    source: str
    destination: str
    engine: str
    bytes_per_cycle: float
    latency: int = 0
    layout_change: str = ""
    conversions: tuple[str, ...] = ()
    row_cycles: float = 0.0
    issue: int = 0
    core: str = ""


@dataclass(frozen=True, slots=True)
class Fractal:
    """The smallest product a matrix unit multiplies: m x n x k of `dtype`, `per_cycle` of them a cycle."""

    dtype: str
    m: int
    n: int
    k: int
    per_cycle: float = 1.0

    @property
    def multiply_adds_per_cycle(self) -> float:
        return self.m * self.n * self.k * self.per_cycle


@dataclass(frozen=True, slots=True)
class InstructionCost:
    """Cycles of a class of instructions: `per_step` for each full-width step, after `startup`."""

    per_step: float
    startup: int = 0


@dataclass(frozen=True, slots=True)
class ComputeUnit:
    """A unit that computes: kind "matrix", "vector" or "scalar"; `count` of them in a core.

    `fractals` describe a matrix unit, one row a dtype. `bytes_per_cycle` is the width of a vector unit's
    step, `startup` the cycles before an instruction's first step, `costs` what differs from one step a cycle,
    by class of instruction.

    `engine` is the queue its instructions go to, its name if empty; `core` the kind of core that has it, ""
    for every kind. `operands` says in which space each operand has to be (a matrix unit's "lhs", "rhs" and
    "accumulator"; a vector or scalar unit's "local"), `layouts` in which layout, where that is not row-major.
    `functions` are the classes of instruction the unit is there for, empty for all."""

    name: str
    kind: str
    count: int = 1
    fractals: tuple[Fractal, ...] = ()
    bytes_per_cycle: float = 0.0
    startup: int = 0
    costs: Mapping[str, InstructionCost] = field(default_factory=dict, hash=False)
    engine: str = ""
    core: str = ""
    operands: Mapping[str, str] = field(default_factory=dict, hash=False)
    layouts: Mapping[str, str] = field(default_factory=dict, hash=False)
    functions: tuple[str, ...] = ()

    @property
    def queue(self) -> str:
        """The engine that takes this unit's instructions."""
        return self.engine or self.name

    def fractal(self, dtype: str) -> Fractal | None:
        """The smallest product of a matrix unit for this dtype, or None."""
        return next((fractal for fractal in self.fractals if fractal.dtype == dtype), None)


@dataclass(frozen=True, slots=True)
class CoreKind:
    """Cores that are alike: how many the device has, how many stand in a group, and the engines of one.

    An engine is an in-order queue of instructions; those of different engines overlap. Cores of a group can
    signal each other.
    """

    name: str
    count: int
    engines: tuple[str, ...]
    per_group: int = 1


@dataclass(frozen=True, slots=True)
class TargetDescription:
    """A machine a backend compiles for.

    `clock_hz` in Hz, bandwidths in bytes a second (0: not known), `launch_overhead` in seconds. `limits` are
    named bounds such as `event_flags` or `max_tile_elements`. `core_kinds` is empty where all cores are alike
    and their engines are those of paths and units. `vendor` holds tables of numbers and texts that only the
    backend understands. `sources` says where a number comes from, by its dotted path
    (`memory_spaces.UB.capacity`); "" holds the default. It takes no part in comparison.
    """

    backend: str
    name: str
    title: str = ""
    cores: int = 1
    clock_hz: float = 0.0
    memory_spaces: tuple[MemorySpace, ...] = ()
    data_paths: tuple[DataPath, ...] = ()
    compute_units: tuple[ComputeUnit, ...] = ()
    dram_bandwidth: float = 0.0
    l2_bandwidth: float = 0.0
    launch_overhead: float = 0.0
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)
    core_kinds: tuple[CoreKind, ...] = ()
    vendor: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def target(self) -> Target:
        return Target(self.backend, self.name)

    def space(self, name: str) -> MemorySpace:
        """The memory with this vendor or portable name; BackendError X0622 if the target has none."""
        for space in self.memory_spaces:
            if name in (space.name, space.portable):
                return space
        problem = error(
            "X0622",
            f"target {self.target} has no memory space {name}",
            note="it has "
            + ", ".join(f"{s.name} ({s.portable or 'not portable'})" for s in self.memory_spaces),
            help="place the tile in one of these, or choose a target that has the space",
        )
        raise BackendError(problem)

    @property
    def kinds(self) -> tuple[CoreKind, ...]:
        """The kinds of cores; where the description names none, one called "core" with every engine."""
        if self.core_kinds:
            return self.core_kinds
        engines = [unit.queue for unit in self.compute_units] + [path.engine for path in self.data_paths]
        return (CoreKind("core", self.cores, tuple(dict.fromkeys(engines))),)

    def path(self, source: str, destination: str, *, core: str = "") -> DataPath | None:
        """The direct way between two spaces (vendor names) on a kind of core ("": any), or None."""
        ends = (source, destination)
        found = (p for p in self.data_paths if (p.source, p.destination) == ends and _on(p.core, core))
        return next(found, None)

    def units(self, kind: str, *, core: str = "") -> tuple[ComputeUnit, ...]:
        """The compute units of a kind, on a kind of core ("": any)."""
        return tuple(unit for unit in self.compute_units if unit.kind == kind and _on(unit.core, core))

    def source_of(self, path: str) -> str:
        """Where the number at `path` comes from: its own note, else that of its table, else the default."""
        while path and path not in self.sources:
            path = path.rpartition(".")[0]
        return self.sources.get(path, "")

    def fingerprint(self) -> str:
        """A hash of everything that compilation may depend on (not of titles or sources)."""
        facts = to_json(self)
        text = json.dumps({k: v for k, v in facts.items() if k not in ("title", "sources")}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _on(owner: str, core: str) -> bool:
    return not owner or not core or owner == core


def to_json(value: Any) -> Any:
    """The description as plain lists and dictionaries."""
    if dataclasses.is_dataclass(value):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, tuple) else value


def problems(description: TargetDescription) -> tuple[str, ...]:
    """What is wrong with a description, one line each; empty if it is sound."""
    found = [*_number_problems(description)]
    names = [space.name for space in description.memory_spaces]
    portable = [space.portable for space in description.memory_spaces if space.portable]
    found += [f"memory space {name!r} is described twice" for name in _repeated(names)]
    found += [f"two memory spaces have the portable name {name}" for name in _repeated(portable)]
    found += [
        f"compute unit {n!r} is described twice" for n in _repeated(u.name for u in description.compute_units)
    ]
    for space in description.memory_spaces:
        if space.portable and space.portable not in PORTABLE_SPACES:
            found.append(
                f"{space.name}: portable name {space.portable!r} is none of {', '.join(PORTABLE_SPACES)}"
            )
        if space.owner not in OWNERS:
            found.append(f"{space.name}: owner {space.owner!r} is none of {', '.join(OWNERS)}")
    for path in description.data_paths:
        ends = [end for end in (path.source, path.destination) if end not in names]
        found += [f"data path {path.source} -> {path.destination}: no memory space {end!r}" for end in ends]
    found += [p for unit in description.compute_units for p in _unit_problems(unit)]
    return (*found, *_core_problems(description))


def _core_problems(description: TargetDescription) -> Iterable[str]:
    """Names of core kinds, engines and spaces that nothing has."""
    kinds = {kind.name: kind for kind in description.kinds}
    yield from (
        f"core kind {n!r} is described twice" for n in _repeated(k.name for k in description.core_kinds)
    )
    parts: list[tuple[str, str, str]] = [
        (f"memory space {s.name}", s.core, "") for s in description.memory_spaces
    ]
    parts += [(f"data path {p.source} -> {p.destination}", p.core, p.engine) for p in description.data_paths]
    parts += [(f"compute unit {u.name}", u.core, u.queue) for u in description.compute_units]
    for what, core, engine in parts:
        if core and core not in kinds:
            yield f"{what}: no core kind {core!r}"
            continue
        owners = [kinds[core]] if core else list(kinds.values())
        if engine and not any(engine in kind.engines for kind in owners):
            yield f"{what}: core kind {owners[0].name} has no engine {engine!r}"
    names = {space.name for space in description.memory_spaces}
    for unit in description.compute_units:
        missing = sorted(set(unit.operands.values()) - names)
        yield from (f"compute unit {unit.name}: no memory space {name!r}" for name in missing)


def _unit_problems(unit: ComputeUnit) -> list[str]:
    if unit.kind not in UNIT_KINDS:
        return [f"compute unit {unit.name}: kind {unit.kind!r} is none of {', '.join(UNIT_KINDS)}"]
    if unit.kind == "matrix" and not unit.fractals:
        return [f"compute unit {unit.name}: a matrix unit needs at least one fractal"]
    if unit.kind == "vector" and unit.bytes_per_cycle <= 0:
        return [f"compute unit {unit.name}: a vector unit needs bytes_per_cycle"]
    return []


def _number_problems(description: TargetDescription) -> Iterable[str]:
    positive: list[tuple[str, float]] = [("cores", description.cores)]
    not_negative = [
        (n, getattr(description, n))
        for n in ("clock_hz", "dram_bandwidth", "l2_bandwidth", "launch_overhead")
    ]
    for space in description.memory_spaces:
        positive += [(f"{space.name}.{n}", getattr(space, n)) for n in ("capacity", "alignment", "banks")]
    for path in description.data_paths:
        positive.append((f"{path.source}->{path.destination}.bytes_per_cycle", path.bytes_per_cycle))
        not_negative.append((f"{path.source}->{path.destination}.latency", path.latency))
    for kind in description.core_kinds:
        positive += [(f"{kind.name}.{n}", getattr(kind, n)) for n in ("count", "per_group")]
    for unit in description.compute_units:
        positive.append((f"{unit.name}.count", unit.count))
        positive += [
            (f"{unit.name}.{f.dtype}.{n}", getattr(f, n))
            for f in unit.fractals
            for n in ("m", "n", "k", "per_cycle")
        ]
    yield from (f"{name} is {value}, it must be above 0" for name, value in positive if not value > 0)
    yield from (f"{name} is {value}, it must not be negative" for name, value in not_negative if value < 0)


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)
