"""What `triton.language.extra` and its packages for single targets give: `libdevice`."""

from xdsl_core.triton_compat.tree import libdevice

__all__ = ["libdevice"]
