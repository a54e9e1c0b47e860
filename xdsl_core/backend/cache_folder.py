"""Where compiled kernels and what backends build for themselves are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "XDSL_CACHE_DIR"


def cache_folder() -> Path:
    """$XDSL_CACHE_DIR, else `xdsl_core` in the user's folder for caches. It need not exist."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "xdsl_core"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xdsl_core"
