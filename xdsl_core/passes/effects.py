"""What an op may do besides giving results, read from its traits."""

from __future__ import annotations

from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait

_LASTING = frozenset({Trait.WRITES_MEMORY, Trait.ATOMIC, Trait.EFFECT, Trait.TERMINATOR})
_HARMLESS = frozenset({Trait.PURE, Trait.READS_MEMORY})
_MORE_THAN_READS = frozenset({Trait.WRITES_MEMORY, Trait.ATOMIC, Trait.EFFECT})


def has_lasting_effect(op: Op) -> bool:
    """Whether the op itself, regions aside, does something that can be seen if its results are unused.

    An op without traits is taken to do so, and a read that is marked `volatile` must happen.
    """
    traits = op.definition.traits
    if Trait.CONTROL in traits:
        return bool(traits & _LASTING)
    return bool(traits & _LASTING) or not traits & _HARMLESS or op.attributes.get("volatile") is True


def may_do_more_than_read(op: Op) -> bool:
    """Whether the op, or one in its regions, may change memory, stop the program or be seen otherwise."""
    return any(
        inner.definition.traits & _MORE_THAN_READS or not inner.definition.traits for inner in op.walk()
    )
