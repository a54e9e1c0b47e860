"""A kernel and its compiled forms: a table of entries a target, found by the key of the arguments."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xdsl_core.backend import Argument, BackendHandle, Grid, Profile, default_registry, option_types
from xdsl_core.diagnostics import Location, XdslError, error, without_frames
from xdsl_core.frontend.specs import ArgumentSpec, Constant, PointerSpec
from xdsl_core.runtime.binder import convert, make_launch, other
from xdsl_core.runtime.compile import Request, compile_request
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.composites import picker, walk
from xdsl_core.runtime.grid import ArgumentError, call_grid, three_extents
from xdsl_core.runtime.launchable import Launchable
from xdsl_core.runtime.pointers import adapter_of, has_no_data
from xdsl_core.runtime.select import selection
from xdsl_core.runtime.specialise import MISSING, ParameterRule, compile_spec, constant_key, spec_of
from xdsl_core.target import Target, TargetDescription

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.runtime.guards import Guard


@dataclass(frozen=True)
class KernelSource:
    """What the runtime needs of a kernel's source.

    `build(specs, debug=..., operations=...)` makes its module, `dependency_key()` hashes it with all it
    refers to, `guards()` lists what must not be rebound between launches, `locate(name)` says where a
    parameter stands in the source ("" for the kernel itself). `options` are those given where it was defined.
    """

    name: str
    rules: Sequence[ParameterRule]
    defaults: Mapping[str, Any]
    build: Callable[..., Module]
    dependency_key: Callable[[], str]
    guards: Callable[[], tuple[Guard, ...]]
    locate: Callable[[str], Location]
    options: Mapping[str, Any]


class Entry:
    """One compiled form as the launch path needs it.

    `outputs` are the indices of the arguments it stores through, `pick` takes the run-time values out of all
    values (None if it takes all), `direct` runs it, `watchers` is non-empty while launches are observed. For
    a backend that takes the caller's arrays, `objects` picks what it takes out of all arguments followed by
    all values (else it is None).
    """

    __slots__ = ("direct", "kernel", "objects", "outputs", "pick", "rules", "watchers")

    def __init__(self, kernel: CompiledKernel, rules: Sequence[ParameterRule]) -> None:
        self.kernel = kernel
        self.rules = rules
        self.direct = kernel.executable.direct
        self.watchers = kernel.backend.launch_watchers
        self.outputs = tuple(i for i, rule in enumerate(rules) if rule.name in kernel.written)
        free = [rule.name for rule in rules if not rule.constexpr]
        places = [free.index(leaf.parameter) for leaf in kernel.leaves]
        self.pick = None if places == list(range(len(free))) else self._picker(places)
        self.objects = self._picker(self._object_places(free)) if kernel.executable.takes_objects else None

    def _picker(self, places: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        """What takes the leaves out of a tuple that holds their parameters at `places`."""
        composite = any(leaf.path for leaf in self.kernel.leaves)
        return picker(self.kernel.leaves, places) if composite else _picker(places)

    def _object_places(self, free: list[str]) -> list[int]:
        """Arrays as the caller passed them, numbers as they were converted."""
        names = [rule.name for rule in self.rules]
        return [
            names.index(leaf.parameter)
            if isinstance(leaf.spec, PointerSpec)
            else len(names) + free.index(leaf.parameter)
            for leaf in self.kernel.leaves
        ]

    def require_writable(self, value: Any, index: int) -> None:
        """ArgumentError X0508 if an argument that is stored through must not be written."""
        name, written = self.rules[index].name, self.kernel.effects.written
        for leaf in self.kernel.leaves:
            if leaf.parameter == name and leaf.name in written:
                self._require_array(walk(value, leaf.path), name)

    def _require_array(self, value: Any, name: str) -> None:
        adapter = adapter_of(type(value))
        if adapter is None or adapter.always_writable or adapter.full(value, "").writable:
            return
        problem = error(
            "X0508",
            f"{self.kernel.name} writes to argument {name!r}, which is read-only",
            help=f"pass a copy: {name}.copy()",
        )
        raise ArgumentError(problem)

    def arguments(self, values: Sequence[Any]) -> tuple[Argument, ...]:
        """The arguments as hooks take them."""
        by_name = {rule.name: (value, rule) for value, rule in zip(values, self.rules, strict=True)}
        found = []
        for leaf in self.kernel.leaves:
            value, rule = by_name[leaf.parameter]
            found.append(_argument(walk(value, leaf.path), rule))
        return tuple(found)

    def observed(self, grid: Grid, values: Sequence[Any]) -> CompiledKernel:
        """A launch through the backend's hooks."""
        try:
            self.kernel.launch(grid, self.arguments(values))
        except XdslError as problem:
            raise without_frames(problem) from None
        return self.kernel


def _picker(places: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What takes the items at `places` out of a tuple, as quickly as it can be done."""
    return itemgetter(*places) if len(places) > 1 else partial(_pick, places)


def _pick(places: Sequence[int], values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([values[place] for place in places])


def _argument(value: Any, rule: ParameterRule) -> Argument:
    if rule.dtype is None:
        adapter = adapter_of(type(value))
        if adapter is not None:
            return adapter.full(value, rule.name)
    number: int | float | bool = (other(value) if rule.dtype is None else convert(rule.dtype, value))[0]
    return number


class Table(dict[Any, Entry]):
    """The entries of a kernel for one target, by the key of a launch.

    They hold as long as `guards` do; `renew` forgets them otherwise.
    """

    def __init__(self, source: KernelSource, backend: BackendHandle, target: TargetDescription) -> None:
        super().__init__()
        self.name = source.name
        self.source = source
        self.backend = backend
        self.target = target
        self.guards: tuple[Guard, ...] = ()
        self._kernels: dict[Any, CompiledKernel] = {}
        self._lock = threading.RLock()

    def renew(self) -> None:
        """Forgets the entries after a global was bound anew; compiled kernels stay under their key."""
        with self._lock:
            self.clear()
            self.guards = ()

    def extents(self, grid: Any) -> Grid | None:
        """The grid as three extents, None if one is zero; an error points to the kernel."""
        try:
            return three_extents(grid, self.name)
        except ArgumentError as problem:
            raise problem.at(self.source.locate("")) from None

    def specialise(
        self, key: Any, values: Sequence[Any], extra: Sequence[Any], options: Mapping[str, Any]
    ) -> Entry | None:
        """The entry for a launch that is not in the table; raises what is wrong with the arguments.

        None if torch's tracers ask, with tensors that have no contents: there is nothing to run.
        """
        try:
            return self._specialise(key, values, extra, options)
        except XdslError as problem:
            raise without_frames(problem) from None

    def _specialise(
        self, key: Any, values: Sequence[Any], extra: Sequence[Any], options: Mapping[str, Any]
    ) -> Entry | None:
        self._refuse_extra(extra)
        if any(map(has_no_data, values)):
            return None
        rules = self.source.rules
        specs = {
            rule.name: self._spec(value, rule, spec_of) for rule, value in zip(rules, values, strict=True)
        }
        kernel = self.compile(specs, options)
        entry = Entry(kernel, rules)
        if key is not None:
            self.guards = self.guards or self.source.guards()
            self[key] = entry
        return entry

    def compile(self, specs: Mapping[str, ArgumentSpec], options: Mapping[str, Any]) -> CompiledKernel:
        """The compiled kernel for these argument types, made once."""
        self._refuse_unknown(options)
        chosen = self.backend.options({**self.source.options, **options})
        key = (self.source.dependency_key(), tuple(map(_spec_key, specs.values())), chosen)
        with self._lock:
            if key not in self._kernels:
                source = self.source
                request = Request(
                    source.name,
                    source.build,
                    key[0],
                    specs,
                    self.backend,
                    self.target,
                    chosen,
                )
                self._kernels[key] = compile_request(request)
            return self._kernels[key]

    def specs(self, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, ArgumentSpec]:
        """What is compiled for arguments, or for stand-ins of arguments (specs and dtypes)."""
        rules = self.source.rules
        self._refuse_extra(values[len(rules) :])
        given = dict(zip((rule.name for rule in rules), values, strict=False)) | dict(named)
        found = {**self.source.defaults, **given}
        return {rule.name: self._spec(found.get(rule.name, MISSING), rule, compile_spec) for rule in rules}

    def _spec(
        self, value: Any, rule: ParameterRule, look: Callable[[Any, ParameterRule], ArgumentSpec]
    ) -> ArgumentSpec:
        """The spec of one argument; an error points to its parameter."""
        try:
            return look(value, rule)
        except ArgumentError as problem:
            raise problem.at(self.source.locate(rule.name)) from problem.__cause__

    def _refuse_extra(self, extra: Sequence[Any]) -> None:
        if extra:
            count = len(self.source.rules)
            problem = error(
                "X0504",
                f"{self.name} takes {count} arguments, but {count + len(extra)} were given",
                location=self.source.locate(""),
                note="parameters: " + ", ".join(rule.name for rule in self.source.rules),
                help="leave out the last",
            )
            raise ArgumentError(problem)

    def _refuse_unknown(self, options: Mapping[str, Any]) -> None:
        known = option_types(self.backend.info.options)
        unknown = [name for name in options if name not in known]
        if unknown:
            parameters = [rule.name for rule in self.source.rules]
            near = difflib.get_close_matches(unknown[0], [*parameters, *known], n=1)
            problem = error(
                "X0504",
                f"{self.name} has no parameter {unknown[0]!r}, and {self.backend.name} no such option",
                location=self.source.locate(""),
                note=f"parameters: {', '.join(parameters)}; options: {', '.join(known)}",
                help=f"did you mean {near[0]!r}?" if near else "leave it out",
            )
            raise ArgumentError(problem)


def _spec_key(spec: ArgumentSpec) -> Any:
    """The spec as a key: constants of different types differ even where Python calls them equal."""
    return constant_key(spec.value) if isinstance(spec, Constant) else spec


class Tables(dict["Target | None", Table]):
    """The tables of a kernel by target; None stands for the selected target."""

    def __init__(self, source: KernelSource) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, target: Target | None) -> Table:
        if target is None:
            return self[selection().resolved()]
        backend, description = default_registry().resolve(target)
        # "cpu_c" and "cpu_c:host" share what they compiled.
        full = description.target
        table = self.get(full) or Table(self._source, backend, description)
        self[full] = self[target] = table
        return table


class Kernel(Launchable):
    """Launches, compiles and profiles a kernel; the common part of JitFunction and of what `on` returns."""

    _target: Target | None = None

    @cached_property
    def _source(self) -> KernelSource:
        raise NotImplementedError

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self._source)

    @cached_property
    def _launch(self) -> Callable[..., Any]:
        return make_launch(self._source.name, self._source.rules, self._source.defaults)

    def _table(self) -> Table:
        return self._tables[self._target or selection().target]

    @property
    def arg_names(self) -> list[str]:
        return [rule.name for rule in self._source.rules]

    def current_target(self) -> Target:
        """The target it is bound to, else the selected one."""
        return self._table().target.target

    def identity(self) -> str | None:
        """A hash of the source with all it refers to, the backend and the target."""
        table = self._table()
        backend = table.backend.fingerprint(table.target)
        return None if backend is None else f"{self._source.dependency_key()} {backend}"

    def on(self, target: str | Target) -> KernelOn:
        """The kernel bound to a target, "backend" or "backend:name"; BackendError X0601 to X0605."""
        return KernelOn(self, Target.parse(target) if isinstance(target, str) else target)

    def __getitem__(self, grid: Any) -> Callable[..., CompiledKernel | None]:
        """The launch over `grid`: a tuple or list of 1 to 3 extents, or a function of the arguments by name.

        The launch returns the CompiledKernel, or None if an extent is zero (then nothing is compiled or run).
        It raises ArgumentError (a LaunchError and TypeError) for wrong arguments, CompilationError and
        BackendError if it cannot be compiled, ExecutionError for what goes wrong while running.
        """
        return partial(self._launch, self._table(), grid)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **meta: Any) -> CompiledKernel | None:
        """Triton's other spelling of `kernel[grid](*args, **meta)`; `warmup` compiles without running."""
        return self.warmup(*args, grid=grid, **meta) if warmup else self[grid](*args, **meta)

    def compile(self, *args: Any, **meta: Any) -> CompiledKernel:
        """The kernel compiled for arguments, without running it.

        An argument may be a stand-in: a PointerSpec, ScalarSpec or Constant, or a dtype for an aligned array
        of it. Raises as a launch does.
        """
        table = self._table()
        names = {rule.name for rule in self._source.rules}
        options = {name: value for name, value in meta.items() if name not in names}
        return table.compile(table.specs(args, {n: v for n, v in meta.items() if n in names}), options)

    def profile(self, grid: Any, *args: Any, **meta: Any) -> Profile | None:
        """Runs the kernel once and says where the time went; None if an extent of the grid is zero."""
        table = self._table()
        names = [rule.name for rule in self._source.rules]
        table._refuse_extra(args[len(names) :])
        given = {**self._source.defaults, **dict(zip(names, args, strict=False))}
        given.update({name: value for name, value in meta.items() if name in names})
        options = {name: value for name, value in meta.items() if name not in names}
        values = [given.get(name, MISSING) for name in names]
        extents = table.extents(call_grid(grid, given | options) if callable(grid) else grid)
        if extents is None:
            return None
        entry = table.specialise(None, values, (), options)
        if entry is None:
            return None
        for index in entry.outputs:
            entry.require_writable(values[index], index)
        return entry.kernel.profile(extents, entry.arguments(values))


class KernelOn(Kernel):
    """A kernel bound to a target: what `kernel.on(target)` returns; it shares what the kernel compiled."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._target = target
        self._kernel = kernel
        self.name = kernel._source.name
        self._tables[target]  # an unknown target is an error here, not at the launch

    @cached_property
    def _source(self) -> KernelSource:
        return self._kernel._source

    @cached_property
    def _tables(self) -> Tables:
        return self._kernel._tables

    @cached_property
    def _launch(self) -> Callable[..., Any]:
        return self._kernel._launch

    def __repr__(self) -> str:
        return f"<kernel {self._source.name} on {self._target}>"
