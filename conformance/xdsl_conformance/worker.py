"""Runs cases in processes of their own, so that a backend that crashes or hangs costs one case and not the
run.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from xdsl_conformance.requirements import unmet
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome, Verdict


def answer(subject: Subject, case_id: str) -> Outcome:
    """The outcome of one case, in this process. Faults of the backend are FAIL, of the suite SUITE_ERROR."""
    from xdsl_conformance.catalogue import catalogue

    start, case = time.perf_counter(), catalogue()[case_id]
    try:
        lacking = unmet(case.requires, subject.capabilities, subject.target)
        outcome = Outcome(Verdict.NOT_SUPPORTED, lacking) if lacking else case.run(subject)
    except AssertionError:
        outcome = Outcome(Verdict.SUITE_ERROR, traceback.format_exc())
    except Exception:
        outcome = Outcome(Verdict.FAIL, f"not an error of ours:\n{traceback.format_exc()}")
    seconds = time.perf_counter() - start
    return Outcome(outcome.verdict, outcome.detail, outcome.budget_use, seconds, outcome.extra)


def serve(name: str, pipe: Connection) -> None:
    """The loop of a worker: ids in, outcomes out, until the pipe closes."""
    subject = Subject(name)
    # what kernels print would run into the progress of the run
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    while True:
        try:
            case_id = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(subject, case_id))


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    case_id: str = ""
    deadline: float = 0.0


def run_cases(
    name: str,
    ids: Iterable[str],
    *,
    workers: int,
    timeout: float,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, Outcome]]:
    """Outcomes as they come. `timeout` is in seconds a case; `tell` is called with each id that starts."""
    waiting = list(reversed(list(ids)))
    context = multiprocessing.get_context("spawn")
    running = [_start(context, name) for _ in range(min(workers, len(waiting)))]
    try:
        for worker in running:
            _hand_out(worker, waiting, timeout, tell)
        while any(worker.case_id for worker in running):
            busy = [worker for worker in running if worker.case_id]
            wait([worker.pipe for worker in busy], timeout=0.5)
            for worker in busy:
                outcome = _outcome(worker)
                if outcome is None:
                    continue
                yield worker.case_id, outcome
                if outcome.verdict in (Verdict.CRASH, Verdict.TIMEOUT):
                    _stop(worker)
                    fresh = _start(context, name)
                    worker.process, worker.pipe = fresh.process, fresh.pipe
                _hand_out(worker, waiting, timeout, tell)
    finally:
        for worker in running:
            _stop(worker)


def _start(context: multiprocessing.context.SpawnContext, name: str) -> _Worker:
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(name, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _hand_out(worker: _Worker, waiting: list[str], timeout: float, tell: Callable[[str], None]) -> None:
    worker.case_id = waiting.pop() if waiting else ""
    if worker.case_id:
        tell(worker.case_id)
        worker.deadline = time.monotonic() + timeout
        worker.pipe.send(worker.case_id)


def _outcome(worker: _Worker) -> Outcome | None:
    """What a worker has to say: its outcome, that it died, that it is late, or nothing yet."""
    try:
        if worker.pipe.poll():
            received: Outcome = worker.pipe.recv()
            return received
    except (EOFError, OSError):
        return Outcome(Verdict.CRASH, f"the process ended with status {_status(worker.process)}")
    if not worker.process.is_alive():
        return Outcome(Verdict.CRASH, f"the process ended with status {_status(worker.process)}")
    if time.monotonic() > worker.deadline:
        return Outcome(Verdict.TIMEOUT, "no answer within the time limit")
    return None


def _status(process: SpawnProcess) -> str:
    process.join(1)
    code = process.exitcode
    return f"{code} (signal {-code})" if code is not None and code < 0 else str(code)


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join(0.2)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
