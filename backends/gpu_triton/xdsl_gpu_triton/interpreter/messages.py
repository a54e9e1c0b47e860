"""What the caller and the interpreter's process tell each other."""

from __future__ import annotations

from dataclasses import dataclass

# A reply is preceded by its length in so many bytes, the lowest first.
HEADER = 8


@dataclass(frozen=True, slots=True)
class Place:
    """A pointer argument: the storage it points into, the byte there, and the dtype of its elements."""

    storage: int
    offset: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar argument of a dtype."""

    value: int | float | bool
    dtype: str


@dataclass(frozen=True, slots=True)
class Request:
    """One launch. `storages` are contents with the remainder of the address by 64."""

    file: str
    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[Place | Number, ...]
    storages: tuple[tuple[bytes, int], ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of the interpreter: whether an assertion of the kernel failed, where, and
    in which program."""

    assertion: bool
    message: str
    kind: str
    line: int
    program: tuple[int, ...]
    traceback: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The contents of the storages afterwards (None: unchanged), what was printed, what went wrong."""

    storages: tuple[bytes | None, ...]
    printed: str
    failure: Failure | None
