"""Plug-ins as pip installs them: the good one works, each broken one is listed and harms nobody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xdsl_core.backend import Available, Registry, Unavailable
from xdsl_core.backend.testing import check_backend
from xdsl_core.diagnostics import BackendError
from xdsl_core.ops import opset

ROOT = Path(__file__).resolve().parents[2]
BROKEN = {
    "acme": ("zz-other-acme", "discover", "acme-backend and zz-other-acme; acme-backend is used"),
    "bad_signature": ("bad-signature-backend", "hooks", "expected xdsl_backend_info()"),
    "broken_import": ("broken-import-backend", "import", "library_that_nobody_has"),
    "wrong_api_version": ("wrong-api-version-backend", "version", "written for API version 2.0"),
}


def test_nothing_is_imported_before_it_is_asked_for(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = ("acme_backend.plugin", "wrong_return_type_backend.plugin")
    for module in modules:
        monkeypatch.delitem(sys.modules, module, raising=False)
    assert {"acme", "broken_import", "wrong_return_type"} <= set(registry.names())
    assert not set(modules) & set(sys.modules)
    registry.get("acme")
    assert set(modules) & set(sys.modules) == {"acme_backend.plugin"}


def test_good_backend_works_beside_the_broken_ones(registry: Registry) -> None:
    assert [handle.name for handle in registry.backends()] == ["acme", "wrong_return_type"]
    handle, target = registry.resolve("acme:two")
    assert handle.distribution == "acme-backend"
    assert handle.availability() == Available("acme-tools 7")
    assert (target.name, target.cores) == ("two", 2)
    assert registry.resolve("acme")[1].name == "one"


@pytest.mark.parametrize("name", BROKEN)
def test_broken_plugin_is_a_listed_failure(registry: Registry, name: str) -> None:
    distribution, stage, reason = BROKEN[name]
    (failure,) = [failure for failure in registry.failures() if failure.name == name]
    assert (failure.distribution, failure.stage) == (distribution, stage)
    assert reason in failure.reason


def test_failure_of_an_import_keeps_the_traceback(registry: Registry) -> None:
    traceback = {failure.name: failure.traceback for failure in registry.failures()}
    assert "plugin.py" in traceback["broken_import"]
    assert len(registry.failures()) == len(BROKEN)


def test_asking_for_a_broken_backend_says_why(registry: Registry) -> None:
    with pytest.raises(BackendError, match="library_that_nobody_has") as caught:
        registry.get("broken_import")
    assert caught.value.code == "X0602"
    assert "broken-import-backend" in str(caught.value)


WRONG = {
    "xdsl_targets": lambda handle: handle.targets(),
    "xdsl_capabilities": lambda handle: handle.capabilities(FakeTarget),
    "xdsl_pipeline": lambda handle: handle.pipeline(FakeTarget, None),
    "xdsl_templates": lambda handle: handle.templates(FakeTarget),
    "xdsl_codegen": lambda handle: handle.codegen(None, FakeTarget, {}, None),
    "xdsl_compile": lambda handle: handle.compile(None, FakeTarget, None, Path()),
    "xdsl_build_library": lambda handle: handle.build_library(None, FakeTarget, None, "f", Path()),
    "xdsl_load": lambda handle: handle.load(None, FakeTarget),
    "xdsl_launch": lambda handle: handle.launch(None, (1, 1, 1), (), None),
    "xdsl_profile": lambda handle: handle.profile(None, (1, 1, 1), (), None),
    "xdsl_conformance": lambda handle: handle.conformance(FakeTarget),
}


class FakeTarget:
    """Stands for a target, since this backend cannot describe one."""

    name = "chip"


@pytest.mark.parametrize("hook", WRONG)
def test_wrong_return_type_names_backend_and_hook(registry: Registry, hook: str) -> None:
    handle = registry.get("wrong_return_type")
    with pytest.raises(BackendError) as caught:
        WRONG[hook](handle)
    assert caught.value.code == "X0608"
    assert f"backend wrong_return_type: {hook} returned" in str(caught.value)


def test_availability_of_a_wrong_type_counts_as_unavailable(registry: Registry) -> None:
    found = registry.get("wrong_return_type").availability()
    assert isinstance(found, Unavailable)
    assert "xdsl_availability returned a bool" in found.reason
    with pytest.raises(BackendError) as caught:
        registry.get("wrong_return_type").require_available()
    assert caught.value.code == "X0614"


def test_installed_plugins_are_found_by_a_new_process(plugin_folder: Path) -> None:
    script = (
        "import json; from xdsl_core.backend import default_registry as r;"
        "print(json.dumps([[h.name for h in r().backends()], [f.name for f in r().failures()]]))"
    )
    path = os.pathsep.join([str(plugin_folder), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    good, broken = json.loads(done.stdout)
    assert "acme" in good
    assert set(BROKEN) <= set(broken)


KERNEL = """
import numpy as np
import xdsl_core as xdsl
import xdsl_core.language as tl

@xdsl.jit
def scale_and_add(x, y, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, tl.load(x + i, mask=inside) * a + tl.load(y + i, mask=inside), mask=inside)

x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
scale_and_add.on("acme:two")[(3,)](x, y, 10, 2.0, BLOCK=4, turbo=True)
print(y.tolist())
print(scale_and_add.profile((3,), x, y, 10, 2.0, BLOCK=4).cycles > 0)
try:
    scale_and_add[(3,)](x.astype(np.float16), y, 10, 2.0, BLOCK=4)
except xdsl_core_error as problem:
    print(problem)
"""


def test_good_backend_runs_a_kernel(plugin_folder: Path, tmp_path: Path) -> None:
    header = "from xdsl_core.diagnostics import CompilationError as xdsl_core_error\n"
    (tmp_path / "kernel.py").write_text(header + KERNEL)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(plugin_folder), str(ROOT)]),
        "XDSL_BACKEND": "acme",
        "XDSL_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, str(tmp_path / "kernel.py")]
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[:2] == [str([2.0 * i + 1 for i in range(10)]), "True"]
        assert "X0610" in lines[2]
        assert "acme does not claim op" in lines[2]
        assert "    tl.store(y + i, tl.load(x + i, mask=inside) * a" in done.stdout


def test_dialect_of_a_backend_is_its_own(registry: Registry) -> None:
    assert "acme.marker" in registry.get("acme").opset()
    assert "acme.marker" not in opset()


def test_good_backend_keeps_the_contract(registry: Registry) -> None:
    assert check_backend(registry.get("acme")) == []
    assert len(check_backend(registry.get("wrong_return_type"))) >= 5
