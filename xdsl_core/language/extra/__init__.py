"""Names that other systems add to the language; a kernel that uses them says from where."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "deeplink":
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
