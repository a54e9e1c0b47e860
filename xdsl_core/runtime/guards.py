"""Notices that a global a kernel was compiled with has been bound to something else."""

from __future__ import annotations

from types import CellType, ModuleType
from typing import Any, Protocol, TypeAlias

from xdsl_core.frontend.python import dependencies
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.language.builtin import Builtin, Standard


class Names(Protocol):
    """Where a name is bound: a module's namespace, or an enclosing function."""

    def get(self, name: str, /) -> Any: ...


class CellNames:
    """One variable of an enclosing function."""

    __slots__ = ("_cell",)

    def __init__(self, cell: CellType) -> None:
        self._cell = cell

    def get(self, name: str, /) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:
            return None


# A place, a name there, and what it was bound to.
Guard: TypeAlias = "tuple[Names, str, Any]"


def guards(source: JitSource) -> tuple[Guard, ...]:
    """What must stay bound as it is for compiled kernels to be right; tested with `get` and `is`.

    Covers the globals and enclosing variables that the function and its helpers read, but not what belongs to
    the language.
    """
    found: dict[tuple[int, str], Guard] = {}
    for reader, path in dependencies.reads(source):
        names: Names = reader.globals
        if path[0] in reader.closure:
            names = CellNames(reader.closure[path[0]])
        for name in path:
            value = names.get(name)
            if value is None or isinstance(value, (Builtin, Standard)):
                break
            found.setdefault((id(reader), ".".join(path[: path.index(name) + 1])), (names, name, value))
            if not isinstance(value, (ModuleType, type)):
                break
            names = vars(value)
    return tuple(guard for guard in found.values() if not isinstance(guard[2], ModuleType))
