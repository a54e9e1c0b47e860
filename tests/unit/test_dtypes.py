"""The table of element types against numpy and ml_dtypes, which know the same formats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xdsl_core import dtypes
from xdsl_core.dtypes import DType


@pytest.mark.parametrize("row", dtypes.ALL, ids=str)
def test_row_agrees_with_its_numpy_dtype(row: DType) -> None:
    assert dtypes.from_numpy(row.numpy) is row
    assert row.numpy.itemsize == row.bytes
    if row.is_float:
        limits = ml_dtypes.finfo(row.numpy)
        assert (row.lowest, row.highest) == (float(limits.min), float(limits.max))
        assert row.unit_roundoff == float(limits.eps) / 2
    elif not row.is_bool:
        integers = np.iinfo(row.numpy)
        assert (row.lowest, row.highest) == (integers.min, integers.max)


@pytest.mark.parametrize("foreign", [">f4", "complex64", "S3", object, "datetime64[s]", ml_dtypes.int4])
def test_other_dtypes_have_no_row(foreign: Any) -> None:
    with pytest.raises(KeyError):
        dtypes.from_numpy(foreign)
