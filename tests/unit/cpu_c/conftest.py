"""A workshop for kernels, one a session."""

from __future__ import annotations

import pytest

from tests.unit.cpu_c.kernels import Workshop
from xdsl_cpu_c.runtime import load_runtime
from xdsl_cpu_c.toolchain import find_compiler


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Builds quickly, without the optimiser."""
    folder = tmp_path_factory.mktemp("workshop")
    compiler = find_compiler(cache_dir=folder)
    return Workshop(folder, compiler, load_runtime(folder, compiler))
