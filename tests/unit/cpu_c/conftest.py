"""A workshop for kernels, one a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.cpu_c.kernels import Workshop, source_of
from tests.unit.language.running import build, function_from
from xdsl_core.backend.toolchain import find_compiler
from xdsl_cpu_c.runtime import load_runtime


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Builds quickly, without the optimiser."""
    folder = tmp_path_factory.mktemp("workshop")
    compiler = find_compiler(cache_dir=folder)
    return Workshop(folder, compiler, load_runtime(folder, compiler))


@pytest.fixture
def generated() -> Callable[..., str]:
    """The C of a kernel given as text, for parameters (f32 array, integer, BLOCK) unless told otherwise."""

    def make(text: str, *arguments: Any, **meta: Any) -> str:
        given = arguments or (np.zeros(1, np.float32), 3)
        return source_of(build(function_from(text), *given, **(meta or {"BLOCK": 64}))).text

    return make
