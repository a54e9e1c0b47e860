"""The thread pool: every program runs once, whatever the grid, the threads, and the state of the process."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xdsl_core.backend.toolchain import Compiler, compile_shared, find_compiler
from xdsl_cpu_c.runtime import OK, Launcher, Parameter, Runtime, load_runtime, make_launcher

pytestmark = pytest.mark.compiler

# Counts the runs of each program, notes the thread that ran it, and keeps it busy for `spin` rounds.
KERNEL = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <time.h>
void body(const uint64_t *slots, int64_t first, int64_t last)
{
    int64_t *runs = (int64_t *)slots[2];
    uint64_t *thread = (uint64_t *)slots[3];
    void *(*scratch)(uint64_t) = (void *(*)(uint64_t))slots[1];
    for (int64_t p = first; p < last; p++) {
        uint64_t *block = scratch(64 << (p % 8));
        *block = (uint64_t)p;
        struct timespec now, start;
        clock_gettime(CLOCK_MONOTONIC, &start);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < (int64_t)slots[4]);
        if (*block == (uint64_t)p && (uintptr_t)block % 64 == 0)
            __atomic_add_fetch(&runs[p], 1, __ATOMIC_RELAXED);
        thread[p] = (uint64_t)pthread_self();
    }
}
"""
PARAMETERS = (
    Parameter("runs", "pointer", written=True, itemsize=8),
    Parameter("thread", "pointer", written=True, itemsize=8),
    Parameter("nanoseconds", "int"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pool")


@pytest.fixture(scope="module")
def compiler(folder: Path) -> Compiler:
    return find_compiler(cache_dir=folder)


@pytest.fixture(scope="module")
def runtime(folder: Path, compiler: Compiler) -> Runtime:
    return load_runtime(folder, compiler)


@pytest.fixture(scope="module")
def kernel(folder: Path, compiler: Compiler) -> Path:
    return compile_shared(KERNEL, folder / "count.so", compiler=compiler)


@pytest.fixture
def make(runtime: Runtime, kernel: Path) -> Callable[[int], Launcher]:
    def launcher(threads: int) -> Launcher:
        made = make_launcher(runtime.load_body(kernel), PARAMETERS, runtime)
        made.threads = threads
        return made

    return launcher


def run(launcher: Launcher, programs: int, nanoseconds: int = 0) -> set[int]:
    """Run the counting kernel, check the counts, and return the threads that took part."""
    runs, thread = np.zeros(programs, np.int64), np.zeros(programs, np.uint64)
    assert launcher((programs, 1, 1), (runs, thread, nanoseconds)) == OK
    assert (runs == 1).all()
    return set(thread.tolist())


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("programs", [1, 2, 3, 7, 16, 17, 1000, 12345])
def test_every_program_runs_once(make: Callable[[int], Launcher], threads: int, programs: int) -> None:
    launcher = make(threads)
    for _ in range(20):
        launcher.ns_per_program = 1e6  # as if the work were worth all threads
        assert len(run(launcher, programs)) <= threads


def test_programs_are_shared_among_threads(make: Callable[[int], Launcher]) -> None:
    launcher = make(2)
    assert max(len(run(launcher, 2, 20_000_000)) for _ in range(5)) == 2


def test_three_dimensional_grid_runs_all_programs(make: Callable[[int], Launcher]) -> None:
    runs, thread = np.zeros(60, np.int64), np.zeros(60, np.uint64)
    assert make(2)((3, 4, 5), (runs, thread, 0)) == OK
    assert (runs == 1).all()


def test_tiny_work_stays_on_the_calling_thread(make: Callable[[int], Launcher]) -> None:
    launcher = make(2)
    for _ in range(100):  # a busy machine may interrupt some of the runs
        run(launcher, 8)
        if 0 < launcher.ns_per_program < 2500:
            assert run(launcher, 8) == {threading.get_ident()}
            return
    pytest.fail(f"eight empty programs are estimated at {launcher.ns_per_program} ns each")


def test_estimate_follows_the_work(make: Callable[[int], Launcher]) -> None:
    launcher = make(2)
    launcher.ns_per_program = 1.0
    for _ in range(3):
        run(launcher, 2, 200_000)
    assert launcher.ns_per_program > 50_000
    for _ in range(10):
        run(launcher, 200)
    assert launcher.ns_per_program < 50_000


def test_estimate_counts_launches_whose_programs_all_ran_on_workers(make: Callable[[int], Launcher]) -> None:
    launcher = make(2)
    for _ in range(300):
        launcher.ns_per_program = 1e5
        run(launcher, 2, 20_000)
        assert launcher.ns_per_program != 1e5


def test_workers_sleep_soon_after_a_launch(make: Callable[[int], Launcher]) -> None:
    run(make(2), 2, 5_000_000)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.05


def test_launches_from_many_threads_at_once(make: Callable[[int], Launcher]) -> None:
    launcher, failures = make(2), []

    def many() -> None:
        try:
            for _ in range(50):
                launcher.ns_per_program = 1e6
                run(launcher, 50, 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_python_threads_go_on_while_a_kernel_runs(make: Callable[[int], Launcher]) -> None:
    launcher, ticks, done = make(1), [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = ticks[0]
    run(launcher, 1, 200_000_000)
    during = ticks[0] - before
    done.set()
    thread.join()
    assert during > 5


def test_number_of_threads_can_be_set(runtime: Runtime) -> None:
    before = runtime.threads()
    try:
        runtime.set_threads(5)
        assert runtime.threads() == 5
        runtime.set_threads(0)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        assert runtime.threads() == cores
    finally:
        runtime.set_threads(before)


def test_number_of_programs_zero_or_negative_is_nothing(runtime: Runtime) -> None:
    library: Any = ctypes.CDLL(str(runtime.library))
    for programs in (0, -1):
        library.xdsl_run(None, None, ctypes.c_int64(programs), 2, None)


def in_new_process(folder: Path, kernel: Path, program: str, **environ: str) -> str:
    """Output of a program in a new interpreter that has `launch(programs)` for the counting kernel."""
    preamble = f"""
import os, sys, pathlib, threading, numpy as np
from xdsl_core.backend.toolchain import find_compiler
from xdsl_cpu_c.runtime import *
folder = pathlib.Path({str(folder)!r})
runtime = load_runtime(folder, find_compiler(cache_dir=folder))
parameters = tuple(Parameter(n, "pointer", written=True, itemsize=8) for n in "ab") + (Parameter("n", "int"),)
launcher = make_launcher(runtime.load_body(pathlib.Path({str(kernel)!r})), parameters, runtime)
def launch(programs, nanoseconds=100_000):
    runs, thread = np.zeros(programs, np.int64), np.zeros(programs, np.uint64)
    assert launcher((programs, 1, 1), (runs, thread, nanoseconds)) == OK
    assert (runs == 1).all()
    return len(set(thread.tolist()))
"""
    path = os.pathsep.join(path for path in sys.path if path)
    result = subprocess.run(
        [sys.executable, "-c", preamble + program],
        env={**os.environ, "PYTHONPATH": path, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_forked_child_makes_its_own_workers(folder: Path, kernel: Path) -> None:
    program = """
launcher.threads = 2
launch(64)
for _ in range(5):
    child = os.fork()
    if child == 0:
        shared = max(launch(2, 20_000_000) for _ in range(5))
        os._exit(0 if shared == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    launch(64)
print("both went on")
"""
    assert "both went on" in in_new_process(folder, kernel, program)


def test_fork_while_another_thread_launches(folder: Path, kernel: Path) -> None:
    program = """
import warnings; warnings.simplefilter("ignore")
launcher.threads = 2
done = threading.Event()
def many():
    while not done.is_set():
        launch(16)
thread = threading.Thread(target=many)
thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        launch(64)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
done.set()
thread.join()
print("no child hung")
"""
    assert "no child hung" in in_new_process(folder, kernel, program)


def test_process_ends_cleanly_while_a_daemon_thread_launches(folder: Path, kernel: Path) -> None:
    program = """
launcher.threads = 2
def many():
    while True:
        launch(16)
threading.Thread(target=many, daemon=True).start()
launch(100)
print("ended")
"""
    assert "ended" in in_new_process(folder, kernel, program)


def test_threads_come_from_the_environment(folder: Path, kernel: Path) -> None:
    assert in_new_process(folder, kernel, "print(runtime.threads())", XDSL_NUM_THREADS="3") == "3\n"
    program = "print(launch(50))"
    assert in_new_process(folder, kernel, program, XDSL_NUM_THREADS="1") == "1\n"
