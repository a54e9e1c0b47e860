"""What `triton.language.math` gives: tl.math, and functions that DLCompiler's tests find there."""

from typing import Any

from xdsl_core.language import math
from xdsl_core.language.extra.deeplink import libdevice

# These take half floats too.
atan2, rint, isfinited, finitef = libdevice.atan2, libdevice.rint, libdevice.isfinited, libdevice.finitef


def __getattr__(name: str) -> Any:
    return getattr(math, name)
