"""Reads a TargetDescription from TOML, keeping where each number comes from."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xdsl_core.diagnostics import BackendError, Diagnostic, error
from xdsl_core.target.description import (
    ComputeUnit,
    CoreKind,
    DataPath,
    Fractal,
    InstructionCost,
    MemorySpace,
    TargetDescription,
    problems,
)

_BINARY = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def load_target(path: Path | str, *, backend: str, folders: Sequence[Path] = ()) -> TargetDescription:
    """The description in the TOML file at `path`.

    Each number is a plain value or `{value = 64, source = "..."}`; `source` in a table, or at the top of the
    file, covers the numbers below it. Sizes in bytes may be written "64 KiB". With `extends = "other"` the
    file only says what differs from other.toml beside it or in `folders`; entries of lists are matched by
    their names. All mistakes are raised together as one BackendError with code X0620."""
    file = Path(path)
    return _description(
        _with_base(_read(file.read_text(encoding="utf-8"), str(file)), file, tuple(folders)),
        backend,
        str(file),
    )


def name_in_file(path: Path | str) -> str:
    """The name that the target in a TOML file has; BackendError X0620 if the file cannot be read."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as cause:
        reason = f"the target file cannot be read: {cause}"
        raise BackendError(error("X0620", reason, help="name a TOML file")) from cause
    return str(_read(text, str(file)).get("name", ""))


def parse_target(text: str, *, backend: str, file: str = "<toml>") -> TargetDescription:
    """The description that TOML `text` holds; `file` is the name errors use. See `load_target`."""
    return _description(_read(text, file), backend, file)


def _read(text: str, file: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        raise BackendError(
            error("X0620", f"{file} is not TOML: {cause}", help="correct the syntax")
        ) from cause


def _with_base(
    tree: dict[str, Any], file: Path, folders: tuple[Path, ...], seen: tuple[Path, ...] = ()
) -> dict[str, Any]:
    """The tree laid over the one of the file it extends."""
    if "extends" not in tree:
        return tree
    name = f"{tree['extends']}.toml"
    candidates = [folder / name for folder in (file.parent, *folders)]
    base = next((path for path in candidates if path.is_file() and path not in (file, *seen)), None)
    if base is None:
        problem = f"{file} extends {tree['extends']!r}, and there is no other file {name}"
        raise BackendError(error("X0620", problem, help='write extends = "name" for name.toml'))
    below = _with_base(_read(base.read_text(encoding="utf-8"), str(base)), base, folders, (*seen, file))
    merged: dict[str, Any] = _merge(below, {key: value for key, value in tree.items() if key != "extends"})
    return merged


def _merge(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict) and "value" not in above:
        return {**below, **{key: _merge(below.get(key), value) for key, value in above.items()}}
    if isinstance(below, list) and isinstance(above, list) and all(isinstance(item, dict) for item in above):
        changed = {_entry_name(item): item for item in above}
        kept = [_merge(item, changed.pop(_entry_name(item), {})) for item in below]
        return [*kept, *changed.values()]
    return above


def _entry_name(entry: Any) -> tuple[Any, ...]:
    """What tells an entry of a list from the others: its name, its two ends, or its dtype."""
    return (entry.get("name") or (entry.get("from"), entry.get("to"), entry.get("dtype")),)


def _description(tree: dict[str, Any], backend: str, file: str) -> TargetDescription:
    reader = _Reader(file)
    values = reader.table(tree, "", _FIELDS) | {"backend": backend}
    reader.complete(TargetDescription, values, "")
    if reader.found:
        raise BackendError(reader.found)
    description = TargetDescription(sources=MappingProxyType(reader.sources), **values)
    wrong = problems(description)
    if wrong:
        raise BackendError(
            [error("X0621", f"{file}: {line}", help="correct the target file") for line in wrong]
        )
    return description


Reading = Callable[["_Reader", Any, str], Any]


@dataclass(slots=True)
class _Reader:
    """Collects what is wrong while it walks the tree, so that one run shows every mistake."""

    file: str
    found: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def wrong(self, path: str, what: str, fix: str) -> None:
        self.found.append(error("X0620", f"{self.file}: {path or 'top level'}: {what}", help=fix))

    def table(self, tree: Any, path: str, readers: Mapping[str, Reading]) -> dict[str, Any]:
        """The entries of one table, each read by its reader; unknown keys are mistakes."""
        if not isinstance(tree, dict):
            self.wrong(path, f"expected a table, got {tree!r}", "write it as a [table]")
            return {}
        if isinstance(tree.get("source"), str):
            self.sources[path] = tree["source"]
        values = {}
        for key, value in tree.items():
            if key in readers:
                values[key] = readers[key](self, value, f"{path}.{key}" if path else key)
            elif key != "source":
                near = difflib.get_close_matches(key, readers, n=1)
                self.wrong(
                    path,
                    f"unknown key {key!r}",
                    f"did you mean {near[0]!r}?" if near else f"known: {', '.join(readers)}",
                )
        return values

    def complete(self, kind: type, values: Mapping[str, Any], path: str) -> bool:
        """Whether every field of `kind` without a default has a value; reports those that have none."""
        required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
        missing = [name for name in required if name not in values]
        for name in missing:
            key = next((key for key, field_name in _FIELD_OF_KEY.items() if field_name == name), name)
            self.wrong(path, f"{key} is missing", f"add {key} = ...")
        return not missing

    def value(self, value: Any, path: str) -> Any:
        """A number without its source note, which is kept."""
        if isinstance(value, dict) and "value" in value:
            if isinstance(value.get("source"), str):
                self.sources[path] = value["source"]
            value = value["value"]
        if not self._covered(path):
            self.wrong(
                path,
                "no source",
                'write {value = ..., source = "where it comes from"}, or source in its table',
            )
        return value

    def _covered(self, path: str) -> bool:
        while path:
            if path in self.sources:
                return True
            path = path.rpartition(".")[0]
        return "" in self.sources


def _text(reader: _Reader, value: Any, path: str) -> str:
    if not isinstance(value, str):
        reader.wrong(path, f"expected text, got {value!r}", "put it in quotes")
    return str(value)


def _integer(reader: _Reader, value: Any, path: str) -> int:
    number = reader.value(value, path)
    if isinstance(number, bool) or not isinstance(number, int):
        reader.wrong(path, f"expected an integer, got {number!r}", "write a whole number")
        return 1
    return number


def _number(reader: _Reader, value: Any, path: str) -> float:
    number = reader.value(value, path)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        reader.wrong(path, f"expected a number, got {number!r}", "write a number without a unit")
        return 1.0
    return float(number)


def _size(reader: _Reader, value: Any, path: str) -> int:
    number = reader.value(value, path)
    if isinstance(number, str):
        digits, _, unit = number.partition(" ")
        if digits.isdigit() and unit in _BINARY:
            return int(digits) * _BINARY[unit]
    elif isinstance(number, int) and not isinstance(number, bool):
        return number
    reader.wrong(
        path, f"expected bytes, got {number!r}", 'write an integer or "64 KiB" (B, KiB, MiB, GiB, TiB)'
    )
    return 1


def _limits(reader: _Reader, value: Any, path: str) -> Mapping[str, int]:
    names = dict.fromkeys(value, _integer) if isinstance(value, dict) else {}
    names.pop("source", None)
    return MappingProxyType(reader.table(value, path, names))


def _words(reader: _Reader, value: Any, path: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        reader.wrong(path, f"expected a list of texts, got {value!r}", 'write ["a", "b"]')
        return ()
    return tuple(_text(reader, item, path) for item in value)


def _texts(reader: _Reader, value: Any, path: str) -> Mapping[str, str]:
    names = dict.fromkeys(value, _text) if isinstance(value, dict) else {}
    names.pop("source", None)
    return MappingProxyType(reader.table(value, path, names))


def _anything(reader: _Reader, value: Any, path: str) -> Any:
    """A table, list, text or number that the backend itself understands; numbers need a source here too."""
    if isinstance(value, dict) and "value" not in value:
        names = {name: _anything for name in value if name != "source"}
        return MappingProxyType(reader.table(value, path, names))
    if isinstance(value, list):
        return tuple(_anything(reader, item, path) for item in value)
    return value if isinstance(value, str) else reader.value(value, path)


def _costs(reader: _Reader, value: Any, path: str) -> Mapping[str, InstructionCost]:
    names = [name for name in value if name != "source"] if isinstance(value, dict) else []
    cost = _record(InstructionCost, {"per_step": _number, "startup": _integer})
    return MappingProxyType(reader.table(value, path, dict.fromkeys(names, cost)))


def _record(kind: type, readers: Mapping[str, Reading]) -> Reading:
    """A reader of one dataclass; reports fields without default that are missing."""

    def read(reader: _Reader, value: Any, path: str) -> Any:
        values = reader.table(value, path, readers)
        renamed = {_FIELD_OF_KEY.get(key, key): item for key, item in values.items()}
        return kind(**renamed) if reader.complete(kind, renamed, path) else None

    return read


def _records(kind: type, readers: Mapping[str, Reading], *keys: str) -> Reading:
    """A reader of a list of dataclasses; paths name an entry by its `keys`, so that sources are readable."""
    read = _record(kind, readers)

    def read_all(reader: _Reader, value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            reader.wrong(path, "expected a list of tables", f"write [[{path}]]")
            return ()
        return tuple(
            read(reader, entry, f"{path}.{_name(entry, keys, index)}") for index, entry in enumerate(value)
        )

    return read_all


def _name(entry: Any, keys: tuple[str, ...], index: int) -> str:
    known = isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys)
    return "->".join(entry[key] for key in keys) if known else str(index)


# TOML keys that are not the field's name: `source` is the note of where numbers come from.
_FIELD_OF_KEY = {"from": "source", "to": "destination"}
_SPACE: dict[str, Reading] = {
    "name": _text,
    "portable": _text,
    "capacity": _size,
    "alignment": _size,
    "owner": _text,
    "banks": _integer,
    "core": _text,
}
_PATH: dict[str, Reading] = {
    "from": _text,
    "to": _text,
    "engine": _text,
    "bytes_per_cycle": _number,
    "latency": _integer,
    "layout_change": _text,
    "conversions": _words,
    "row_cycles": _number,
    "issue": _integer,
    "core": _text,
}
_FRACTAL: dict[str, Reading] = {
    "dtype": _text,
    "m": _integer,
    "n": _integer,
    "k": _integer,
    "per_cycle": _number,
}
_UNIT: dict[str, Reading] = {
    "name": _text,
    "kind": _text,
    "count": _integer,
    "fractals": _records(Fractal, _FRACTAL, "dtype"),
    "bytes_per_cycle": _number,
    "startup": _integer,
    "costs": _costs,
    "engine": _text,
    "core": _text,
    "operands": _texts,
    "layouts": _texts,
    "functions": _words,
}
_CORE: dict[str, Reading] = {
    "name": _text,
    "count": _integer,
    "engines": _words,
    "per_group": _integer,
}
_FIELDS: dict[str, Reading] = {
    "name": _text,
    "title": _text,
    "cores": _integer,
    "clock_hz": _number,
    "memory_spaces": _records(MemorySpace, _SPACE, "name"),
    "data_paths": _records(DataPath, _PATH, "from", "to"),
    "compute_units": _records(ComputeUnit, _UNIT, "name"),
    "dram_bandwidth": _number,
    "l2_bandwidth": _number,
    "launch_overhead": _number,
    "limits": _limits,
    "core_kinds": _records(CoreKind, _CORE, "name"),
    "vendor": _anything,
}
