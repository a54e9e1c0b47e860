"""Several processes at once: they compile the same kernel into the same cache, and all get it right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

from xdsl_conformance.case import Case
from xdsl_conformance.kernel_case import ask as ask_kernel
from xdsl_conformance.kernels import kernel_named
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome, Verdict

PROCESSES = 3
_SECONDS = 50.0
KERNELS = ("softmax/3x61", "matmul/f32.17x31x33")


def process_cases() -> Iterator[Case]:
    """A few kernels, launched by processes that start together with an empty cache."""
    for name in KERNELS:
        yield Case(
            f"steady/processes/{name.replace('/', '.')}",
            "tile",
            f"{name} from {PROCESSES} processes at once",
            partial(ask, name),
            {"kernel": name.partition("/")[0]},
        )


def ask(name: str, subject: Subject) -> Outcome:
    """All processes must come to the verdict that one alone comes to."""
    with tempfile.TemporaryDirectory(prefix="xdsl_conformance-cache-") as folder:
        command = [sys.executable, "-m", "xdsl_conformance.process_cases", subject.name, name]
        environment = {**os.environ, "XDSL_CACHE_DIR": folder}
        running = [
            subprocess.Popen(
                command, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for _ in range(PROCESSES)
        ]  # fmt: skip
        try:
            for process in running:
                assert process.stdout is not None
                process.stdout.readline()  # it is ready
            for process in running:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            outcomes = [_outcome(*_finish(process)) for process in running]
        finally:
            for process in running:
                process.kill()
                process.wait()
    bad = [found for found in outcomes if found.verdict is not Verdict.PASS]
    return bad[0] if bad else outcomes[0]


def _finish(process: subprocess.Popen[str]) -> tuple[str, str, int]:
    try:
        out, err = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return "", "no answer", -1
    return out, err, process.returncode


def _outcome(out: str, err: str, status: int) -> Outcome:
    try:
        found = json.loads(out)
    except ValueError:
        return Outcome(Verdict.FAIL, f"a process ended with status {status}\n{err[-1000:]}")
    return Outcome(Verdict(found["verdict"]), found["detail"], found["budget_use"])


def main() -> None:
    """One of the processes: gets ready, waits for a line, launches and prints its outcome."""
    subject, name = Subject(sys.argv[1]), sys.argv[2]
    kernel, variant = name.split("/")
    case = kernel_named(kernel)
    print("ready", flush=True)
    sys.stdin.readline()
    outcome = ask_kernel(case, variant, subject)
    found = {"verdict": outcome.verdict.value, "detail": outcome.detail, "budget_use": outcome.budget_use}
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
