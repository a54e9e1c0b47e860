"""What a function's IR depends on besides its own text: helpers and compile-time globals."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterator
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

from xdsl_core.frontend.python.source import MISSING, JitSource, source_behind, source_of
from xdsl_core.language.aggregate import is_aggregate
from xdsl_core.language.builtin import Builtin, ConstexprFunction
from xdsl_core.language.types import dtype
from xdsl_core.language.values import constexpr, unwrap


def dependency_key(source: JitSource) -> str:
    """The content hash of a function and of all it reaches; see JitSource.dependency_key."""
    known_reads = reads(source)
    values = tuple(_value(read) for read in known_reads)
    known = source.__dict__.get("_last_key")
    if known is not None and len(known[0]) == len(values) and all(map(_same, known[0], values)):
        return known[1]  # type: ignore[no-any-return]
    digest = hashlib.sha256()
    for part in _parts(source, set()):
        digest.update(part.encode())
        digest.update(b"\0")
    key = digest.hexdigest()
    source.__dict__["_last_key"] = (values, key)
    if known is not None:
        # a rebound name may lead to other helpers
        source.__dict__.pop("_reads", None)
    return key


def _same(left: Any, right: Any) -> bool:
    # numbers and strings by value and type, everything else by identity: a rebound helper is another one
    if left is right:
        return True
    return type(left) is type(right) and isinstance(left, int | float | str) and left == right


def reads(source: JitSource) -> tuple[tuple[JitSource, tuple[str, ...]], ...]:
    """Every (function, dotted name) read by the function and the helpers it reaches."""
    known = source.__dict__.get("_reads")
    if known is None:
        found: list[tuple[JitSource, tuple[str, ...]]] = []
        _collect(source, set(), found)
        known = source.__dict__["_reads"] = tuple(found)
    return known


def _collect(source: JitSource, seen: set[int], found: list[tuple[JitSource, tuple[str, ...]]]) -> None:
    if id(source) in seen:
        return
    seen.add(id(source))
    for path in _paths(source):
        found.append((source, path))
        for reached in _reached(_value((source, path))):
            _collect(reached, seen, found)


def _paths(source: JitSource) -> tuple[tuple[str, ...], ...]:
    """The dotted names of a function's text that do not start at one of its own names."""
    known = source.__dict__.get("_paths")
    if known is None:
        own = {name.id for name in ast.walk(source.tree) if isinstance(name, ast.Name) and not _loads(name)}
        own |= set(source.signature.parameters)
        known = source.__dict__["_paths"] = tuple(
            path for path in dict.fromkeys(_dotted(source.tree)) if path[0] not in own
        )
    return known


def _loads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _dotted(tree: ast.FunctionDef) -> Iterator[tuple[str, ...]]:
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and _loads(node):
                yield (node.id,)
            elif isinstance(node, ast.Attribute):
                path: list[str] = []
                place: ast.expr = node
                while isinstance(place, ast.Attribute):
                    path.insert(0, place.attr)
                    place = place.value
                if isinstance(place, ast.Name):
                    yield (place.id, *path)


def _value(read: tuple[JitSource, tuple[str, ...]]) -> Any:
    """What a dotted name means now, as far as modules and classes lead; MISSING where it leads elsewhere."""
    source, path = read
    value = source.look_up(path[0])
    for name in path[1:]:
        if not isinstance(value, ModuleType | type):
            return MISSING
        value = getattr(value, name, MISSING)
    return unwrap(value) if isinstance(value, constexpr) else value


def _parts(source: JitSource, seen: set[int]) -> Iterator[str]:
    """The texts that make up the key."""
    if id(source) in seen:
        return
    seen.add(id(source))
    yield source.name
    yield source.text
    for parameter in source.parameters:
        yield f"{parameter.name}:{parameter.is_constexpr}:{_describe(parameter.default)}"
    for path in _paths(source):
        value = _value((source, path))
        reached = _reached(value)
        if reached:
            yield ".".join(path)
            for function in reached:
                yield from _parts(function, seen)
        elif not isinstance(value, ModuleType | type) and value is not MISSING:
            yield f"{'.'.join(path)}={_describe(value)}"


def _reached(value: Any) -> tuple[JitSource, ...]:
    """The functions whose text matters to whoever names this value."""
    if isinstance(value, ConstexprFunction):
        return (source_behind(value),)
    if is_aggregate(value):
        members = (getattr(value, name) for name in sorted(dir(value)) if not name.startswith("__"))
        return tuple(source for member in members for source in _of_member(member))
    source = source_of(value)
    return () if source is None else (source,)


def _of_member(member: Any) -> tuple[JitSource, ...]:
    """The text of a method or of the constructor of an aggregate."""
    if isinstance(member, FunctionType):
        own = member.__module__.partition(".")[0] == __name__.partition(".")[0]
        return () if own else (JitSource(member),)
    return _reached(member) if not isinstance(member, type) else ()


def _describe(value: Any) -> str:
    """A value as text that is the same in every process."""
    value = unwrap(value)
    if isinstance(value, Builtin):
        own = (value.__module__ or "").partition(".")[0] == __name__.partition(".")[0]
        return f"tl.{value.name}" if own else f"tl.{value.name}:{inspect.getsource(value.implementation)}"
    if isinstance(value, tuple | list):
        return f"({','.join(map(_describe, value))})"
    if isinstance(value, dtype | int | float | str | bool | Enum | None.__class__):
        return f"{type(value).__name__}:{value!r}"
    return f"{type(value).__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
