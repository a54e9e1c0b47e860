"""What `triton.language` gives, and `triton.language.core`: this package's language."""

from typing import Any

from xdsl_core import language
from xdsl_core.language import *  # noqa: F403
from xdsl_core.language.aggregate import aggregate as _aggregate  # noqa: F401
from xdsl_core.language.builtin import standard as _tensor_member_fn  # noqa: F401
from xdsl_core.language.slices import get_element  # noqa: F401
from xdsl_core.language.types import get_int_dtype  # noqa: F401
from xdsl_core.language.values import unwrap as _unwrap_if_constexpr  # noqa: F401


def __getattr__(name: str) -> Any:
    return getattr(language, name)
