"""The op that acme adds: a marker in the instruction stream."""

from __future__ import annotations

from xdsl_core.ir import Trait
from xdsl_core.opdef import NoBudget, Sample, op, reference, type_rule


@op("acme.marker", since="0.1", profile="ext-dsa", traits=(Trait.EFFECT,))
class Marker:
    """Marks a place in the instruction stream. Changes nothing."""

    samples = (Sample({}),)
    budget = NoBudget()

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute() -> None:
        return None
