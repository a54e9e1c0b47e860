"""What the backend claims to do on a target, and why it refuses the rest."""

from __future__ import annotations

from xdsl_core import dtypes
from xdsl_core.ops import CORE
from xdsl_core.target import Capabilities, TargetDescription, claim_all


def capabilities(target: TargetDescription) -> Capabilities:
    """The claims for a target."""
    return claim_all(CORE, [dtype.name for dtype in dtypes.ALL])
