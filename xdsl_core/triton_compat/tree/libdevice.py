"""What `triton.language.extra.libdevice` gives: the functions of tl.math under their names there."""

from typing import Any

from xdsl_core.language import math


def __getattr__(name: str) -> Any:
    return getattr(math, name)
