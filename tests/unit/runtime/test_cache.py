"""The disk cache: hits without the frontend, damage, other processes, keys."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.runtime.fakes import ClosureBackend, ModuleKernel
from xdsl_core.backend import Artifact, default_registry
from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.runtime.cache import CacheEntry, DiskCache
from xdsl_core.runtime.compile import stable_constant
from xdsl_core.runtime.specialise import ParameterRule

RULES = (ParameterRule("x"), ParameterRule("BLOCK", constexpr=True))


def kernel(name: str = "copy", key: str = "text") -> ModuleKernel:
    return ModuleKernel(name, *RULES, reads=("x",), writes=("x",), key=key)


def launch(fresh: ModuleKernel, block: Any = 4, **options: Any) -> Any:
    return fresh[(1,)](np.zeros(4, np.float32), BLOCK=block, **options)


def test_hit_runs_neither_frontend_nor_compiler(backend: ClosureBackend) -> None:
    first, again = kernel(), kernel()
    cold, warm = launch(first), launch(again)
    assert (cold.from_cache, warm.from_cache) == (False, True)
    assert (backend.compiled, again.built) == (1, [])
    assert warm.stages == cold.stages
    assert warm.effects == cold.effects
    assert warm.metadata == {"BLOCK": 4}
    assert len(backend.launches) == 2


def test_key_covers_what_the_result_depends_on(backend: ClosureBackend) -> None:
    changes: list[Any] = [
        lambda: launch(kernel()),
        lambda: launch(kernel(key="other text")),
        lambda: launch(kernel("other_name")),
        lambda: launch(kernel(), block=8),
        lambda: launch(kernel(), block=4.0),
        lambda: launch(kernel(), num_warps=8),
        lambda: kernel()[(1,)](np.zeros(4, np.int32), BLOCK=4),
        lambda: kernel().on("closure:there")[(1,)](np.zeros(4, np.float32), BLOCK=4),
    ]
    for count, change in enumerate(changes, 1):
        change()
        assert backend.compiled == count
    for change in changes:
        change()
    assert backend.compiled == len(changes)


def test_constant_without_a_stable_text_is_not_cached(backend: ClosureBackend) -> None:
    backend.xdsl_codegen = None  # type: ignore[method-assign,assignment]
    assert stable_constant(object()) is None
    assert stable_constant((1, object())) is None
    assert (
        stable_constant((1, "a", 2.5, None, True)) == "(int 1, str 'a', float 2.5, NoneType None, bool True)"
    )


@pytest.mark.parametrize("damage", ["artifact", "manifest", "stage", "missing"])
def test_damaged_entry_is_rebuilt(backend: ClosureBackend, damage: str) -> None:
    stored = launch(kernel()).stored.folder
    file = {
        "artifact": stored / "artifact" / "kernel.txt",
        "manifest": stored / "manifest.json",
        "stage": stored / "stages" / "tile",
        "missing": stored / "artifact" / "metadata.json",
    }[damage]
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert not launch(kernel()).from_cache
    assert launch(kernel()).from_cache
    assert backend.compiled == 2


def test_unwritable_cache_still_compiles(
    backend: ClosureBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path / "file" / "below"))
    done = launch(kernel())
    assert not done.from_cache
    assert done.artifact.read("kernel.txt") == b"copy"
    assert "memory.load" in done.stages["tile"]


def test_unidentified_wrapper_turns_the_cache_off(backend: ClosureBackend) -> None:
    from xdsl_core.backend import hookimpl

    class Wrapper:
        @hookimpl(wrapper=True)
        def xdsl_codegen(self) -> Any:
            return (yield)

    default_registry().add_plugin(Wrapper(), name="wrapper")
    try:
        launch(kernel())
        launch(kernel())
    finally:
        default_registry().remove_plugin("wrapper")
    assert backend.compiled == 2


def test_dump_writes_the_ir_and_ignores_hits(
    backend: ClosureBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch(kernel())
    monkeypatch.setenv("XDSL_DUMP_IR", str(tmp_path / "dump"))
    assert not launch(kernel()).from_cache
    assert (tmp_path / "dump" / "copy" / "00-input.tile").exists()


def test_size_list_and_clear(backend: ClosureBackend) -> None:
    cache = DiskCache(cache_folder())
    assert (cache.entries(), cache.size(), cache.clear()) == ((), 0, 0)
    launch(kernel())
    launch(kernel(), block=8)
    entries = cache.entries()
    assert [type(entry) for entry in entries] == [CacheEntry] * 2
    assert entries[0].about["kernel"] == "copy"
    assert entries[0].about["target"] == "closure:here"
    assert entries[0].about["specs"]["BLOCK"] == "int 4"
    assert cache.size() >= sum(entry.size for entry in entries) > 0
    cache.remove(entries[0].key)
    assert len(cache.entries()) == 1
    assert cache.clear() == 1
    assert cache.entries() == ()


def write_and_read(root: Path, key: str, rounds: int) -> int:
    """Stores and reads one entry again and again; the number of wrong answers."""
    cache, wrong = DiskCache(root), 0
    for _ in range(rounds):
        stored = cache.put(
            key, Artifact({"kernel.bin": b"x" * 5000}, {"entry": "k"}), {"read": []}, {"tile": "text"}
        )
        if (
            stored is None
            or stored.artifact.read("kernel.bin") != b"x" * 5000
            or stored.stages() != {"tile": "text"}
        ):
            wrong += 1
        if cache.get(key) is None:
            wrong += 1
    return wrong


def test_processes_may_store_the_same_entry_at_once(tmp_path: Path) -> None:
    key = "ab" + "0" * 62
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        wrong = pool.starmap(write_and_read, [(tmp_path, key, 20)] * 3)
    assert wrong == [0, 0, 0]
    assert sorted(path.name for path in (tmp_path / "kernels").iterdir()) == ["ab"]


def test_results_are_stored_as_json(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    assert cache.read_result("k") is None
    cache.write_result("k", {"best": "a"})
    assert cache.read_result("k") == {"best": "a"}
