"""Every example on every backend that is available: within budget, and unable to pass with a wrong result."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import demo, flash_attention, gelu, layer_norm, matmul
from examples.demo import EXAMPLES, targets_of
from examples.fused_softmax import reference as softmax_reference
from xdsl_core.backend import Available, default_registry
from xdsl_core.testing import compare

ROOT = Path(__file__).resolve().parents[2]


MAIN = [targets_of(backend)[0] for backend in default_registry().backends()]
SIMULATED = ["mlu370", "neuroncore_v2", "toy", "ascend310p3", "ascend910b1", "ascend910b4"]


def available(target: str) -> object:
    found = default_registry().resolve(target)[0].availability()
    reason = "" if isinstance(found, Available) else f"{found.reason}; {found.fix}"
    return pytest.param(target, marks=pytest.mark.skipif(bool(reason), reason=reason))


@pytest.mark.parametrize("backend", [available(target) for target in MAIN])
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_is_within_budget(example: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"examples.{example}")
    monkeypatch.setattr(module, "time_launch", lambda launch: launch() and 0.0)  # once is enough
    comparisons = module.run(backend)
    assert comparisons
    assert not [str(comparison) for comparison in comparisons if not comparison.passed]


@pytest.mark.parametrize("target", SIMULATED[:3])
def test_product_is_within_budget_on_other_families(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    test_example_is_within_budget("matmul", f"dsa_sim:{target}", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("target", SIMULATED)
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_is_within_budget_on_every_simulated_machine(
    example: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_example_is_within_budget(example, f"dsa_sim:{target}", monkeypatch)


def test_the_demo_shows_cycles_and_what_holds_them_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--backend", "dsa_sim:toy", "--only", "vector_add"]) == 0
    shown = capsys.readouterr().out
    assert "98432" in shown
    assert re.search(r"vector_add +│ dsa_sim:toy +│ +[0-9,]+ +│ \w+", shown)


def test_every_example_is_in_the_demo() -> None:
    found = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"__init__", "demo"}
    assert found == set(EXAMPLES)


def test_an_example_runs_as_a_script() -> None:
    command = [sys.executable, "examples/vector_add.py", "reference"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "budgets" in found.stdout


def softmax_of_halves() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).standard_normal((16, 256)).astype(np.float32)
    expected, budget = softmax_reference(x)
    numerator = np.exp((x - x.max(axis=1, keepdims=True)).astype(np.float16))
    return numerator / numerator.sum(axis=1, keepdims=True), expected, budget


def attention_off_by_one_key() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, k, v = np.random.default_rng(0).standard_normal((3, 1, 1, 64, 32)).astype(np.float32)
    expected, budget = flash_attention.reference(q, k, v, causal=False)
    return flash_attention.reference(q, k[..., :-1, :], v[..., :-1, :], causal=False)[0], expected, budget


def product_without_the_last_term() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = np.random.default_rng(0).standard_normal((2, 64, 64)).astype(np.float32)
    expected, budget = matmul.reference(a, b, np.dtype(np.float32))
    return a[:, :-1] @ b[:-1], expected, budget


def layer_norm_with_another_epsilon() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    inputs, _ = layer_norm.make(8, 500)
    expected, budget = layer_norm.reference(inputs)
    return layer_norm.reference(inputs, epsilon=1e-4)[0].out, expected.out, budget.out


def the_other_gelu() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.linspace(-4, 4, 801, dtype=np.float32)
    expected, budget = gelu.reference(x, approximate=False)
    return gelu.reference(x, approximate=True)[0], expected, budget


@pytest.mark.parametrize(
    "wrong",
    [
        softmax_of_halves,
        attention_off_by_one_key,
        product_without_the_last_term,
        layer_norm_with_another_epsilon,
        the_other_gelu,
    ],
)
def test_budget_is_tight_enough_to_find(wrong: object) -> None:
    got, expected, budget = wrong()  # type: ignore[operator]
    assert compare(got, expected, budget).error > 2.0
