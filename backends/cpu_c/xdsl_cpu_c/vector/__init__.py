"""C vectors of 8, 16 or 32 lanes as explicit values: types and functions for generated kernels.

A name says everything: `f32x32_add` adds two vectors of 32 floats, `f32_add` two floats, `load_f16_f32x32`
loads 32 half-precision numbers into float lanes.  `prelude` gives the C text of the functions a kernel uses.
"""

from __future__ import annotations

from xdsl_cpu_c.vector.elements import ELEMENTS, LANES, MEMORY, NARROW_FLOATS, c_type
from xdsl_cpu_c.vector.prelude import names, prelude

__all__ = ["ELEMENTS", "LANES", "MEMORY", "NARROW_FLOATS", "c_type", "names", "prelude"]
