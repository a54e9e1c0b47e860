"""Knowing whether the machine was quiet while something was timed, and asking it for priority.

Sources: the fields of /proc/PID/task/TID/schedstat are documented in the kernel's scheduler/sched-stats.rst
(run time, time waited on a run queue, both in nanoseconds); `steal` in proc(5); autogroups and their nice
value in sched(7).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

WAITED_TOO_LONG = 0.05  # share of the wall time that a thread may have waited for a processor
PREPARED = "XDSL_BENCHMARK_PROCESS"
UNSET_PREFIXES = ("OPENBLAS_", "MKL_", "OMP_", "GOMP_", "KMP_")


@dataclass(frozen=True, slots=True)
class Quiet:
    """A reading of counters: nanoseconds that each thread waited, ticks stolen from all processors."""

    waited: dict[str, int]
    stolen: int

    @staticmethod
    def read() -> Quiet:
        """The counters now; empty where the system has none."""
        waited = {}
        for file in Path("/proc/self/task").glob("*/schedstat"):
            fields = _words(file)
            if len(fields) >= 2:
                waited[file.parent.name] = int(fields[1])
        processors = _words(Path("/proc/stat"))
        return Quiet(waited, int(processors[8]) if len(processors) > 8 else 0)

    def disturbed(self, later: Quiet, seconds: float) -> bool:
        """Whether a thread waited too long, or the hypervisor took time away, in the `seconds` between."""
        longest = max((ns - self.waited.get(thread, 0) for thread, ns in later.waited.items()), default=0)
        return longest > WAITED_TOO_LONG * seconds * 1e9 or later.stolen > self.stolen


def in_prepared_process() -> None:
    """Runs this script again in a process of its own, unless it is that one, and leaves with its status.

    There the settings of OpenBLAS, MKL and OpenMP are unset, and the session has the highest priority that
    the system grants (its autogroup's, where there are autogroups; plain nice does nothing between sessions
    then).
    """
    if os.environ.get(PREPARED):
        _raise_priority()
        return
    environment = {name: value for name, value in os.environ.items() if not name.startswith(UNSET_PREFIXES)}
    environment[PREPARED] = "1"
    command = [sys.executable, *sys.orig_argv[1:]]
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            process.terminate()
            raise


def _raise_priority() -> None:
    """The autogroup's nice value where there is one, else that of all threads: they must not differ.

    A thread that waits for another one by spinning would starve it if only it had the higher priority.
    """
    try:
        Path("/proc/self/autogroup").write_text("-20", encoding="ascii")
    except OSError:
        with contextlib.suppress(OSError):
            for thread in os.listdir("/proc/self/task"):
                os.setpriority(os.PRIO_PROCESS, int(thread), -20)


def _words(file: Path) -> list[str]:
    try:
        with file.open(encoding="ascii") as lines:
            return _first_line(lines).split()
    except OSError:
        return []


def _first_line(lines: Iterable[str]) -> str:
    return next(iter(lines), "")
