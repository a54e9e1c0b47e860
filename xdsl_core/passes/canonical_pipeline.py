"""The generic passes in the order that every backend can start from."""

from __future__ import annotations

from xdsl_core.passes.canonicalize import Canonicalize
from xdsl_core.passes.eliminate_common_subexpressions import EliminateCommonSubexpressions
from xdsl_core.passes.eliminate_dead_code import EliminateDeadCode
from xdsl_core.passes.hoist_loop_invariants import HoistLoopInvariants
from xdsl_core.passes.pipeline import Pipeline


def canonical_pipeline() -> Pipeline:
    """Simplify, compute nothing twice, move what does not change out of loops, remove what is not needed.

    Canonicalizing folds constants too. Merging goes before hoisting, so that an op inside a loop which exists
    outside already is not moved beside it. Both run once more because moved ops meet others that are alike.
    """
    return Pipeline(
        (
            Canonicalize(),
            EliminateCommonSubexpressions(),
            HoistLoopInvariants(),
            Canonicalize(),
            EliminateCommonSubexpressions(),
            EliminateDeadCode(),
        )
    )
