"""Matrix products of tiles in C: register-blocked micro-kernels on packed panels, and the packing."""

from xdsl_cpu_c.dot.blocking import (
    AVX2,
    AVX512,
    BASELINE,
    CONTRACTIONS,
    NEON,
    Blocking,
    Contraction,
    blocking_for,
)
from xdsl_cpu_c.dot.emit import (
    SOURCES,
    copy_rows_function,
    dot_function,
    dot_prelude,
    dot_templates,
    pack_function,
    packed_length,
)

__all__ = [
    "AVX2",
    "AVX512",
    "BASELINE",
    "CONTRACTIONS",
    "NEON",
    "SOURCES",
    "Blocking",
    "Contraction",
    "blocking_for",
    "copy_rows_function",
    "dot_function",
    "dot_prelude",
    "dot_templates",
    "pack_function",
    "packed_length",
]
