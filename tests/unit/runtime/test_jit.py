"""@xdsl.jit end to end on the backends of this repository."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import LaunchError
from xdsl_core.frontend.specs import Constant

ROOT = Path(__file__).resolve().parents[3]
BACKENDS = ["reference", pytest.param("cpu_c", marks=pytest.mark.compiler)]
SCALE = tl.constexpr(3)


@xdsl.jit
def scaled(v):
    return v * SCALE


@xdsl.jit
def axpy(x, y, n, a, BLOCK: tl.constexpr = 16):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, a * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@xdsl.jit
def times_scale(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, scaled(tl.load(x + i)))


@xdsl.jit
def with_bias(x, bias, y):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    if bias is not None:
        v += tl.load(bias + i)
    tl.store(y + i, v)


@xdsl.jit
def transposed(x, y, sm, sn, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    tl.store(y + r * COLUMNS + c, tl.load(x + r * sm + c * sn) * 10)


@xdsl.jit
def store_number(y, n: tl.int64, f: tl.float64, flag):
    tl.store(y, n.to(tl.float64))
    tl.store(y + 1, f)
    tl.store(y + 2, flag.to(tl.float64))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    with xdsl.use(request.param):
        yield request.param


def test_kernel_is_launched_on_numpy_arrays(backend: str) -> None:
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    done = axpy[lambda meta: (xdsl.cdiv(100, meta["BLOCK"]),)](x, y, 100, 2.0)
    assert y.tolist() == [2.0 * i + 1 for i in range(100)]
    assert done.target.backend == backend
    axpy[(7,)](x, y, n=100, a=0.5, BLOCK=16)
    assert y.tolist() == [2.5 * i + 1 for i in range(100)]


@pytest.mark.torch
def test_torch_tensors_are_not_copied(backend: str) -> None:
    import torch

    x, y = torch.arange(32, dtype=torch.float32), torch.zeros(32)
    axpy[(2,)](x, y, 32, 2.0)
    assert y.tolist() == [2.0 * i for i in range(32)]


def test_none_and_an_array_in_either_order(backend: str) -> None:
    x, bias = np.arange(1, 5, dtype=np.float32), np.full(4, 10, np.float32)
    for given, wanted in ((None, [1, 2, 3, 4]), (bias, [11, 12, 13, 14]), (None, [1, 2, 3, 4])):
        y = np.zeros(4, np.float32)
        with_bias[(1,)](x, given, y)
        assert y.tolist() == wanted


def test_views_with_any_strides(backend: str) -> None:
    base = np.arange(8, dtype=np.float32).reshape(2, 4)
    for view in (base.T, base[::-1, ::-1], base[:, ::2]):
        y = np.zeros(view.shape, np.float32)
        sm, sn = (stride // 4 for stride in view.strides)
        transposed[(1,)](view, y, sm, sn, ROWS=view.shape[0], COLUMNS=view.shape[1])
        assert y.tolist() == (view * 10).tolist()


def test_annotated_and_inferred_scalars(backend: str) -> None:
    y = np.zeros(3)
    store_number[(1,)](y, 2**40 + 1, 0.1, True)
    assert y.tolist() == [2**40 + 1, 0.1, 1.0]
    store_number[(1,)](y, np.int32(1), 3, False)
    assert y.tolist() == [1.0, 3.0, 0.0]
    with pytest.raises(LaunchError, match=r"argument 'n' is 2\.5") as caught:
        store_number[(1,)](y, 2.5, 1.0, True)
    assert caught.value.code == "X0509"


def test_same_array_twice(backend: str) -> None:
    x = np.arange(16, dtype=np.float32)
    axpy[(1,)](x, x, 16, 1.0)
    assert x.tolist() == [2.0 * i for i in range(16)]


def test_read_only_output_is_refused(backend: str) -> None:
    y = np.broadcast_to(np.float32(0), 16)
    with pytest.raises(LaunchError, match="axpy writes to argument 'y', which is read-only") as caught:
        axpy[(1,)](np.zeros(16, np.float32), y, 16, 1.0)
    assert caught.value.code == "X0508"


def test_global_read_by_a_helper_may_change(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    times_scale[(1,)](x, y, BLOCK=4)
    assert y.tolist() == [3.0] * 4
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(5))
    times_scale[(1,)](x, y, BLOCK=4)
    assert y.tolist() == [5.0] * 4
    monkeypatch.undo()
    times_scale[(1,)](x, y, BLOCK=4)
    assert y.tolist() == [3.0] * 4


def test_zero_grid_and_integer_grid(backend: str) -> None:
    y = np.zeros(16, np.float32)
    assert axpy[(0,)](y, y, 16, 1.0) is None
    with pytest.raises(TypeError, match="the grid of axpy is 4"):
        axpy[4](y, y, 16, 1.0)


def test_stages_of_a_compiled_kernel(backend: str) -> None:
    done = axpy.compile(np.dtype("float32"), np.dtype("float32"), 100, 2.0, BLOCK=32)
    assert "memory.store" in done.stages["tile"]
    assert done.specs["BLOCK"] == Constant(32)
    assert done.effects.written == {"y"}
    assert done.effects.read == {"x", "y"}


def test_calling_a_kernel_without_a_grid_says_what_to_write() -> None:
    with pytest.raises(TypeError, match="axpy was called like a Python function") as caught:
        axpy(1, 2, 3, 4)
    assert isinstance(caught.value, LaunchError)
    assert caught.value.code == "X0512"
    assert axpy.fn.__name__ == axpy.__name__ == "axpy"


def test_wrong_argument_points_to_its_parameter() -> None:
    with pytest.raises(LaunchError) as caught:
        axpy.on("reference")[(1,)]([1.0], np.zeros(1, np.float32), 1, 1.0)
    text = str(caught.value)
    assert "def axpy(x, y, n, a, BLOCK: tl.constexpr = 16):" in text
    assert text.splitlines()[4] == f"{' ' * 4}|{' ' * 10}^"
    with pytest.raises(LaunchError) as caught:
        axpy.on("reference")[(1,)](1, 2, 3, 4, 5, 6)
    assert "def axpy(" in str(caught.value)


def test_kernel_with_variable_parameters_is_refused() -> None:
    @xdsl.jit
    def kernel(x, *rest):
        tl.store(x, 1.0)

    with pytest.raises(LaunchError, match="takes any number of arguments") as caught:
        kernel.on("reference")[(1,)](np.zeros(1))
    assert caught.value.code == "X0516"


def test_keyword_only_constexpr_and_twice_given_argument() -> None:
    @xdsl.jit
    def kernel(x, *, VALUE: tl.constexpr):
        tl.store(x, VALUE)

    x = np.zeros(1)
    kernel.on("reference")[(1,)](x, VALUE=7)
    assert x.tolist() == [7.0]
    with pytest.raises(TypeError, match=r"kernel\(\) got multiple values for argument 'x'"):
        kernel.on("reference")[(1,)](x, VALUE=7, x=x)


def test_threads_compile_a_kernel_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path))
    built: list[Any] = []
    kernel = xdsl.jit(with_bias.fn)
    build = kernel._build
    monkeypatch.setattr(kernel, "_build", lambda *a, **k: built.append(a) or build(*a, **k))
    arrays = [(np.full(4, i, np.float32), np.zeros(4, np.float32)) for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda pair: kernel.on("reference")[(1,)](pair[0], None, pair[1]), arrays))
    assert [y.tolist() for _, y in arrays] == [[float(i)] * 4 for i in range(8)]
    assert len(built) == 1


def test_jit_takes_tritons_options() -> None:
    def kernel(x, n):
        tl.store(x, n)

    made = xdsl.jit(do_not_specialize=["n"], debug=True, noinline=True, repr=None, version=1)(kernel)
    rules = {rule.name: rule for rule in made._source.rules}
    assert (rules["n"].specialise, rules["x"].specialise) == (False, True)
    assert made._source.options == {"debug": True}
    done = made.on("reference")[(1,)](np.zeros(1, np.int32), 1)
    assert done is not None
    assert done.parameters == ("x", "n")
    assert done.options.debug


HIT = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np, kernel
y = np.zeros(16, np.float32)
done = kernel.double.on("reference")[(1,)](np.ones(16, np.float32), y)
assert y.tolist() == [2.0] * 16
print(done.from_cache, "xdsl_core.frontend.python.build" in sys.modules)
from xdsl_core.backend.fingerprint import package_fingerprint
print(package_fingerprint("xdsl_core"))
"""
KERNEL = """
import xdsl_core as xdsl
import xdsl_core.language as tl

@xdsl.jit
def double(x, y):
    i = tl.arange(0, 16)
    tl.store(y + i, tl.load(x + i) * 2)
"""


def run(script: str) -> str:
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def two_processes(script: str) -> tuple[str, str]:
    """What the script prints in two processes that see the same code of the package."""
    while True:
        first, second = run(script).split("\n"), run(script).split("\n")
        if first[1] == second[1]:
            return first[0], second[0]


def test_next_process_finds_the_kernel_without_the_frontend(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(KERNEL)
    _, second = two_processes(HIT.format(folder=str(tmp_path)))
    assert second == "True False"
    kernel.write_text(KERNEL.replace("* 2", "+ tl.load(x + i)"))
    assert run(HIT.format(folder=str(tmp_path))).startswith("False True")


def test_import_is_light() -> None:
    script = "import sys, xdsl_core; print([n for n in {names} if n in sys.modules])"
    names: Any = ["numpy", "ml_dtypes", "cffi", "jinja2", "torch", "pluggy", "rich", "xdsl_cpu_c"]
    assert run(script.format(names=names)) == "[]"


def test_the_language_is_light() -> None:
    """Some versions of ml_dtypes take a second to import, and most kernels need none of its formats."""
    names = ["ml_dtypes", "cffi", "jinja2", "torch", "rich", "xdsl_cpu_c"]
    assert run(f"import sys, xdsl_core.language; print([n for n in {names} if n in sys.modules])") == "[]"


def test_every_public_name_is_there() -> None:
    for name in xdsl.__all__:
        assert getattr(xdsl, name) is not None
    assert set(xdsl.__all__) <= set(dir(xdsl))
    with pytest.raises(AttributeError, match="no attribute 'jitt'"):
        xdsl.jitt  # noqa: B018


@xdsl.jit
def add_one(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def test_tuned_kernel_that_updates_in_place(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path))
    configs = [xdsl.Config({"BLOCK": 16}), xdsl.Config({"BLOCK": 32})]
    tuned = xdsl.autotune(configs, key=["n"], restore_value=["x"], warmup=1, rep=1)(add_one)
    x = np.ones(100, np.float32)
    for count in (2, 3):
        tuned[lambda meta: (xdsl.cdiv(meta["n"], meta["BLOCK"]),)](x, n=100)
        assert x.tolist() == [count] * 100
    assert tuned.best_config in configs
    assert set(tuned.timings) == set(configs)


def test_heuristics_with_a_kernel(backend: str) -> None:
    computed = xdsl.heuristics({"BLOCK": lambda args: xdsl.next_power_of_2(args["n"])})(add_one)
    x = np.ones(5, np.float32)
    done = computed[(1,)](x, 5)
    assert x.tolist() == [2.0] * 5
    assert done.specs["BLOCK"] == Constant(8)


@pytest.mark.torch
def test_tuning_restores_torch_tensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path))
    configs = [xdsl.Config({"BLOCK": 16}), xdsl.Config({"BLOCK": 32})]
    x = torch.ones(20)[::1]
    for settings in ({"restore_value": ["x"]}, {"reset_to_zero": ["x"]}):
        tuned = xdsl.autotune(configs, key=["n"], warmup=1, rep=1, cache_results=False, **settings)(add_one)
        tuned.on("reference")[(2,)](x, 20)
    assert x.tolist() == [1.0] * 20
