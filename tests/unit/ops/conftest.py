"""`apply`: one op on arrays, through the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from xdsl_core.dtypes import from_numpy
from xdsl_core.interp import run
from xdsl_core.ir import Region, tile_or_scalar
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.ops.harness import case_of


def apply_op(
    definition: OpDef,
    *operands: Any,
    regions: Mapping[str, Callable[[], Region]] | None = None,
    **attributes: Any,
) -> Any:
    """The result of an op (a tuple of them if there are several) for numpy operands."""
    arrays = [np.asarray(operand) for operand in operands]
    texts = [str(tile_or_scalar(array.shape, from_numpy(array.dtype))) for array in arrays]
    names = list(definition.operands)
    if definition.operands[names[0]].variadic:
        types: dict[str, Any] = {names[0]: tuple(texts)}
        values: dict[str, Any] = {names[0]: tuple(arrays)}
    else:
        types, values = dict(zip(names, texts, strict=False)), dict(zip(names, arrays, strict=False))
    case = case_of(definition, Sample(types, attributes, values, regions=regions or {}))
    arguments = case.fresh_arguments()
    run(case.module, (1,), list(arguments.values()), check=True)
    shapes = [kind.shape for kind in case.result_types]
    found = tuple(arguments[name].reshape(shape) for name, shape in zip(case.outputs, shapes, strict=True))
    return found[0] if len(found) == 1 else found


@pytest.fixture
def apply() -> Callable[..., Any]:
    return apply_op
