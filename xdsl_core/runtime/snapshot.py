"""Keeps the contents of an array argument, to put them back after trial runs."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from xdsl_core.runtime.composites import parts_of_argument
from xdsl_core.runtime.pointers import adapter_of


def snapshot(value: Any) -> Callable[[], None] | None:
    """A function that puts the present contents back; None for no array, or one of unknown size."""
    parts = parts_of_argument(value)
    if parts is not None:
        restores = [restore for restore in map(snapshot, parts) if restore is not None]
        return lambda: _run_all(restores)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        kept = value.detach().clone()
        return lambda: _copy_tensor(value, kept)
    if isinstance(value, np.ndarray):
        saved = value.copy()
        return lambda: np.copyto(value, saved)
    adapter = adapter_of(type(value))
    if adapter is None:
        return None
    pointer = adapter.full(value, "")
    if pointer.storage_bytes < 0:
        return None
    content = ctypes.string_at(pointer.storage_address, pointer.storage_bytes)
    return lambda: _copy_bytes(pointer.storage_address, content)


def set_to_zero(value: Any) -> None:
    """Fills an array with zeros; does nothing to what is no array."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value.detach().zero_()
    elif isinstance(value, np.ndarray):
        value[...] = 0
    elif (adapter := adapter_of(type(value))) is not None:
        pointer = adapter.full(value, "")
        ctypes.memset(pointer.storage_address, 0, max(0, pointer.storage_bytes))


def _run_all(restores: Iterable[Callable[[], None]]) -> None:
    for restore in restores:
        restore()


def _copy_tensor(target: Any, source: Any) -> None:
    target.detach().copy_(source)


def _copy_bytes(address: int, content: bytes) -> None:
    ctypes.memmove(address, content, len(content))
