"""Autotune and heuristics: choice, safety of the arguments, caches, mistakes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.unit.runtime.fakes import ClosureBackend, ModuleKernel, memory
from xdsl_core.diagnostics import BackendError, LaunchError, error
from xdsl_core.runtime.autotune import autotune
from xdsl_core.runtime.bench import do_bench
from xdsl_core.runtime.config import Config
from xdsl_core.runtime.heuristics import heuristics
from xdsl_core.runtime.select import use
from xdsl_core.runtime.specialise import ParameterRule

X, N, BLOCK = ParameterRule("x"), ParameterRule("n"), ParameterRule("BLOCK", constexpr=True)
SMALL, LARGE = Config({"BLOCK": 16}), Config({"BLOCK": 32})


def update(**settings: Any) -> ModuleKernel:
    """x[:n] += 1, as far as its module says: x is read and written."""
    return ModuleKernel("update", X, N, BLOCK, reads=("x",), writes=("x",), **settings)


def add_one(grid: Any, values: Any, constants: Mapping[str, Any]) -> None:
    memory(values[0], values[1])[:] += 1
    if constants["BLOCK"] == 16:
        time.sleep(0.002)


def quick(fn: Any) -> float:
    """A benchmark of one call."""
    started = time.perf_counter()
    fn()
    return time.perf_counter() - started


def test_update_in_place_is_seen_exactly_once(backend: ClosureBackend) -> None:
    backend.body = add_one
    tuned = autotune([SMALL, LARGE], ["n"], restore_value=["x"], do_bench=quick)(update())
    x = np.ones(100, np.float32)
    tuned[(1,)](x, 100)
    assert x.tolist() == [2.0] * 100
    assert tuned.best_config is LARGE
    assert set(tuned.timings) == {SMALL, LARGE}
    tuned[(1,)](x, 100)
    assert x.tolist() == [3.0] * 100
    assert len(backend.launches) == 2 * 2 + 2


def test_without_restore_value_it_warns_and_is_still_right(backend: ClosureBackend) -> None:
    backend.body = add_one
    tuned = autotune([SMALL, LARGE], ["n"], do_bench=quick)(update())
    x = np.ones(100, np.float32)
    with pytest.warns(UserWarning, match=r"x is both read and written.*add restore_value=\['x'\]"):
        tuned[(1,)](x, 100)
    assert x.tolist() == [2.0] * 100


def test_what_only_another_config_writes_keeps_its_contents(backend: ClosureBackend) -> None:
    def half(grid: Any, values: Any, constants: Mapping[str, Any]) -> None:
        memory(values[0], 8 if constants["BLOCK"] == 32 else 4)[:] = 7

    backend.body = half
    backend.cycles = lambda constants: constants["BLOCK"]
    tuned = autotune([LARGE, SMALL], ["n"])(ModuleKernel("half", X, N, BLOCK, writes=("x",)))
    x = np.full(8, -1, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuned[(1,)](x, 8)
    assert x.tolist() == [7, 7, 7, 7, -1, -1, -1, -1]


def test_reset_to_zero_before_every_run_and_the_last(backend: ClosureBackend) -> None:
    backend.body = add_one
    tuned = autotune([SMALL, LARGE], ["n"], reset_to_zero=["x"], do_bench=quick)(update())
    x = np.full(10, 5, np.float32)
    tuned[(1,)](x, 10)
    assert x.tolist() == [1.0] * 10


def test_cycles_rank_where_the_backend_counts_them(backend: ClosureBackend) -> None:
    backend.cycles = lambda constants: 1000 // constants["BLOCK"]
    tuned = autotune([SMALL, LARGE], ["n"])(ModuleKernel("k", X, N, BLOCK))
    tuned[lambda meta: (meta["BLOCK"],)](np.zeros(4, np.float32), 5)
    assert tuned.timings == {SMALL: 62.0, LARGE: 31.0}
    assert [grid[0] for grid, _ in backend.launches] == [16, 32, 32]


def test_each_key_and_dtype_is_tuned_once(backend: ClosureBackend) -> None:
    backend.cycles = lambda constants: constants["BLOCK"]
    tuned = autotune([SMALL, LARGE], ["n"], cache_results=False)(ModuleKernel("k", X, N, BLOCK))
    x = np.zeros(4, np.float32)
    for value, n in ((x, 5), (x, 5), (x, 6), (x.astype(np.float16), 5), (x, 6)):
        tuned[(1,)](value, n)
    assert len(tuned.cache) == 3
    assert len(backend.launches) == 5 + 3 * 2


def test_result_is_kept_on_disk(backend: ClosureBackend) -> None:
    backend.cycles = lambda constants: constants["BLOCK"]

    def launch(key: str = "text", **settings: Any) -> int:
        tuned = autotune([LARGE, SMALL], ["n"], **settings)(ModuleKernel("k", X, N, BLOCK, key=key))
        before = len(backend.launches)
        tuned[(1,)](np.zeros(4, np.float32), 5)
        assert tuned.best_config is SMALL
        return len(backend.launches) - before

    assert [launch(), launch()] == [3, 1]
    assert launch(key="other text") == 3
    assert launch(cache_results=False) == 3
    assert launch(pre_hook=lambda arguments, reset_only: None) == 3


def test_config_that_fails_is_left_out(backend: ClosureBackend) -> None:
    def too_large(grid: Any, values: Any, constants: Mapping[str, Any]) -> None:
        if constants["BLOCK"] == 32:
            raise BackendError(error("X0614", "no room for 32"))

    backend.body = too_large
    tuned = autotune([LARGE, SMALL], ["n"], do_bench=quick)(ModuleKernel("k", X, N, BLOCK))
    tuned[(1,)](np.zeros(4, np.float32), 5)
    assert tuned.best_config is SMALL
    assert tuned.timings[LARGE] == float("inf")


def test_error_when_no_config_works(backend: ClosureBackend) -> None:
    def never(grid: Any, values: Any, constants: Mapping[str, Any]) -> None:
        raise BackendError(error("X0614", "no room"))

    backend.body = never
    with pytest.raises(LaunchError, match="none of the 2 configs of k works") as caught:
        autotune([LARGE, SMALL], ["n"])(ModuleKernel("k", X, N, BLOCK))[(1,)](np.zeros(4, np.float32), 5)
    assert caught.value.code == "X0515"
    assert "X0614: no room" in str(caught.value)


def test_hooks_run_around_every_trial(backend: ClosureBackend) -> None:
    seen: list[Any] = []
    hooked = Config({"BLOCK": 8}, pre_hook=lambda arguments: seen.append(("config", arguments["BLOCK"])))
    tuned = autotune(
        [hooked, SMALL],
        ["n"],
        pre_hook=lambda arguments, reset_only: seen.append(("pre", arguments["n"])),
        post_hook=lambda arguments, exception: seen.append(("post", exception)),
        do_bench=lambda fn: 1.0,
    )(ModuleKernel("k", X, N, BLOCK))
    tuned[(1,)](np.zeros(4, np.float32), 5)
    trial = [("pre", 5), ("config", 8), ("post", None), ("pre", 5), ("post", None)]
    assert seen == [*trial, ("config", 8)]


def test_configs_are_pruned(backend: ClosureBackend) -> None:
    configs = [Config({"BLOCK": block}) for block in (8, 16, 32, 64)]
    prune = {
        "early_config_prune": lambda found, named, **meta: [
            c for c in found if c.kwargs["BLOCK"] <= named["n"]
        ],
        "perf_model": lambda **arguments: -arguments["BLOCK"],
        "top_k": 2,
    }
    tuned = autotune(configs, ["n"], prune_configs_by=prune, do_bench=quick)(ModuleKernel("k", X, N, BLOCK))
    tuned[(1,)](np.zeros(4, np.float32), 40)
    assert [config.kwargs["BLOCK"] for config in tuned.timings] == [32, 16]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"configs": [], "key": ["n"]}, "has no config"),
        ({"configs": [SMALL], "key": ["size"]}, "key names size"),
        ({"configs": [Config({"BLOK": 4})], "key": []}, "did you mean 'BLOCK'"),
        ({"configs": [SMALL], "key": [], "restore_value": ["y"]}, "restore_value names y"),
        ({"configs": [SMALL], "key": [], "reset_to_zero": ["y"]}, "reset_to_zero names y"),
    ],
)
def test_settings_that_do_not_fit_the_kernel(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(LaunchError) as caught:
        autotune(**settings)(update())
    assert caught.value.code == "X0513"
    assert words in str(caught.value)


def test_argument_set_by_config_and_caller(backend: ClosureBackend) -> None:
    with pytest.raises(LaunchError, match="BLOCK is chosen by autotune") as caught:
        autotune([SMALL, LARGE], ["n"])(update())[(1,)](np.zeros(4, np.float32), 4, BLOCK=8)
    assert caught.value.code == "X0514"


def test_config_passes_its_options(backend: ClosureBackend) -> None:
    tuned = autotune([Config({"BLOCK": 4}, num_warps=8, num_stages=1)], [])(ModuleKernel("k", X, N, BLOCK))
    done = tuned[(1,)](np.zeros(4, np.float32), 5)
    assert done is not None
    assert (done.options.num_warps, done.options.num_stages, done.options.num_ctas) == (8, 1, 1)
    assert str(SMALL) == "BLOCK: 16, num_warps: 4, num_ctas: 1, num_stages: 3"


def test_heuristics_compute_arguments_in_order(backend: ClosureBackend) -> None:
    rules = (X, N, BLOCK, ParameterRule("EVEN", constexpr=True))
    values = {"BLOCK": lambda a: 1 << (a["n"] - 1).bit_length(), "EVEN": lambda a: a["n"] % a["BLOCK"] == 0}
    computed = heuristics(values)(ModuleKernel("k", *rules))
    done = computed[(1,)](np.zeros(4, np.float32), n=6)
    assert done is not None
    assert done.metadata == {"BLOCK": 8, "EVEN": False}
    assert computed.compile(np.zeros(4, np.float32), 8).metadata == {"BLOCK": 8, "EVEN": True}


def test_heuristics_refuse_unknown_names() -> None:
    with pytest.raises(LaunchError) as caught:
        heuristics({"BLOK": lambda a: 1})(update())
    assert caught.value.code == "X0513"


def test_autotune_over_heuristics_on_another_target(backend: ClosureBackend) -> None:
    backend.cycles = lambda constants: constants["BLOCK"]
    rules = (X, N, BLOCK, ParameterRule("WIDE", constexpr=True))
    inner = heuristics({"WIDE": lambda a: a["BLOCK"] > 16})(ModuleKernel("k", *rules))
    tuned = autotune([LARGE, SMALL], ["n"])(inner).on("closure:there")
    done = tuned[(1,)](np.zeros(4, np.float32), 5)
    assert done is not None
    assert done.metadata == {"BLOCK": 16, "WIDE": False}
    assert done.target.name == "there"
    assert tuned.base_fn.name == "k"
    profile = tuned.profile((1,), np.zeros(4, np.float32), 5)
    assert profile is not None
    assert profile.cycles == 16


def test_benchmark_in_tritons_form_gets_quantiles(backend: ClosureBackend) -> None:
    seen: list[Any] = []

    def bench(call: Any, quantiles: Any) -> list[float]:
        seen.append(quantiles)
        return [1.0 if len(seen) == 2 else 2.0, 0.5, 3.0]

    tuned = autotune([SMALL, LARGE], ["n"], do_bench=bench)(ModuleKernel("k", X, N, BLOCK))
    tuned[(1,)](np.zeros(4, np.float32), 5)
    assert seen == [(0.5, 0.2, 0.8)] * 2
    assert tuned.best_config is LARGE


def test_default_benchmark_takes_the_median() -> None:
    calls: list[float] = []

    def call() -> None:
        calls.append(time.perf_counter())
        time.sleep(0.001)

    milliseconds = do_bench(call, warmup=2, rep=5)
    assert 1.0 <= milliseconds < 50.0
    assert 4 <= len(calls) <= 9


def test_each_target_is_tuned_for_itself(backend: ClosureBackend) -> None:
    backend.cycles = lambda constants: constants["BLOCK"]
    tuned = autotune([SMALL, LARGE], ["n"], cache_results=False)(ModuleKernel("k", X, N, BLOCK))
    for target in ("closure:here", "closure:there", "closure:here"):
        with use(target):
            tuned[(1,)](np.zeros(4, np.float32), 5)
    assert len(tuned.cache) == 2
