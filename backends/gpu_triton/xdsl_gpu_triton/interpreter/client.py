"""The interpreter's process as seen by its caller: started when first needed, stopped if it hangs."""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from xdsl_core.diagnostics import ExecutionError, error
from xdsl_gpu_triton.interpreter.messages import HEADER, Reply, Request

_MODULE = "xdsl_gpu_triton.interpreter.worker"
_CHUNK = 1 << 20


class Worker:
    """One process that serves requests one after the other; a new one after a crash or a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._requests = -1
        self._replies = -1
        atexit.register(self.stop)

    def run(self, request: Request, *, seconds: float) -> Reply:
        """The reply to a request; ExecutionError X0736 if the process dies or takes longer than `seconds`."""
        with self._lock:
            if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
                self._start()
            try:
                return self._exchange(request, seconds)
            except BaseException:
                # whatever is left in the pipes belongs to this request
                self.stop()
                raise

    def stop(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        os.close(self._requests)
        os.close(self._replies)
        process.kill()
        process.wait()

    def _start(self) -> None:
        self.stop()
        given, self._requests = os.pipe()
        self._replies, answers = os.pipe()
        environment = os.environ | {
            "TRITON_INTERPRET": "1",
            "PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {_MODULE} import main; main()", str(given), str(answers)],
            pass_fds=(given, answers),
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        os.close(given)
        os.close(answers)
        os.set_blocking(self._requests, False)
        self._owner = os.getpid()

    def _exchange(self, request: Request, seconds: float) -> Reply:
        end = time.monotonic() + seconds
        pending = memoryview(pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL))
        while pending:
            self._wait([], [self._requests], end, seconds)
            try:
                pending = pending[os.write(self._requests, pending[:_CHUNK]) :]
            except BrokenPipeError:
                raise self._died() from None
        size = int.from_bytes(self._receive(HEADER, end, seconds), "little")
        reply: Any = pickle.loads(self._receive(size, end, seconds))
        assert isinstance(reply, Reply)
        return reply

    def _receive(self, size: int, end: float, seconds: float) -> bytearray:
        received = bytearray()
        while len(received) < size:
            self._wait([self._replies], [], end, seconds)
            part = os.read(self._replies, min(_CHUNK, size - len(received)))
            if not part:
                raise self._died()
            received += part
        return received

    def _wait(self, readable: list[int], writable: list[int], end: float, seconds: float) -> None:
        left = end - time.monotonic()
        if left > 0 and any(select.select(readable, writable, [], left)):
            return
        raise ExecutionError(
            error(
                "X0736",
                f"the kernel did not end within {seconds:g} seconds in Triton's interpreter",
                note="its process was stopped; arguments are as they were before the launch",
                help="if it is only slow, launch it with timeout_seconds=..., or on a smaller problem",
            )
        )

    def _died(self) -> ExecutionError:
        assert self._process is not None
        status = self._process.wait()
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return ExecutionError(
            error(
                "X0736",
                f"Triton's interpreter ended while it ran the kernel ({how})",
                note="most often the kernel accesses memory outside its arguments",
                help='run it on the backend "reference", which checks every access',
            )
        )
