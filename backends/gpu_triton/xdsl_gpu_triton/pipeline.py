"""The passes of gpu_triton, in order."""

from __future__ import annotations

from xdsl_core.passes import Pipeline
from xdsl_core.passes.canonical_pipeline import canonical_pipeline
from xdsl_core.passes.eliminate_common_subexpressions import EliminateCommonSubexpressions
from xdsl_core.passes.eliminate_dead_code import EliminateDeadCode
from xdsl_core.target import TargetDescription
from xdsl_gpu_triton.legalize.atomics import LowerExchanges
from xdsl_gpu_triton.legalize.casts import LowerCasts
from xdsl_gpu_triton.legalize.elements import WidenElements
from xdsl_gpu_triton.legalize.extents import PadExtents
from xdsl_gpu_triton.legalize.products import LowerProducts


def triton_pipeline(target: TargetDescription) -> Pipeline:
    """Canonical IR, then what Triton cannot express in forms that it can.

    Pointers that a loop carries stay carried, as hand-written kernels have them. Padding goes after
    widening, so that it fills dtypes that Triton computes with, and before products, so that a padded inner
    extent counts; what these make is widened again, and casts go last.
    """
    return canonical_pipeline().append(
        WidenElements(interpreted=not target.vendor),
        PadExtents(),
        LowerExchanges(),
        LowerProducts.of(target),
        WidenElements(interpreted=not target.vendor),
        LowerCasts(interpreted=not target.vendor),
        WidenElements(interpreted=not target.vendor),
        EliminateCommonSubexpressions(),
        EliminateDeadCode(),
    )
