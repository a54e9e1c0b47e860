"""A loaded kernel: in the interpreter's process, or on a GPU."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

from xdsl_core.backend import Argument, Artifact, Executable, Grid, Pointer
from xdsl_core.diagnostics import ExecutionError, LaunchError, Location, error
from xdsl_core.target import TargetDescription
from xdsl_gpu_triton.build import SOURCE
from xdsl_gpu_triton.generated import generated_file
from xdsl_gpu_triton.interpreter.client import Worker
from xdsl_gpu_triton.interpreter.messages import Failure, Number, Place, Request
from xdsl_gpu_triton.options import TritonOptions
from xdsl_gpu_triton.plugin import INTERPRET


def load(artifact: Artifact, target: TargetDescription) -> Executable:
    """The kernel, ready to run."""
    if target.name == INTERPRET:
        return Executable(InterpretedKernel(artifact))
    from xdsl_gpu_triton.launch import load_on_device

    return load_on_device(artifact, target)


@cache
def _worker() -> Worker:
    return Worker()


@dataclass(frozen=True, slots=True)
class Memory:
    """A stretch of the caller's memory that arguments point into."""

    address: int
    size: int

    def read(self) -> bytes:
        return ctypes.string_at(self.address, self.size)


class InterpretedKernel:
    """Runs one kernel in the interpreter's process."""

    def __init__(self, artifact: Artifact) -> None:
        self.name: str = artifact.metadata["name"]
        self.dtypes: list[str] = artifact.metadata["dtypes"]
        self.lines: dict[str, list[Any]] = artifact.metadata["lines"]
        self.file = str(generated_file(artifact.read(SOURCE).decode()))

    def run(self, grid: Grid, arguments: tuple[Argument, ...], options: TritonOptions) -> float:
        """Runs the grid; seconds it took. Raises ExecutionError X0405, X0735 and X0736."""
        start = perf_counter()
        pointers = [argument for argument in arguments if isinstance(argument, Pointer)]
        memory = merged(pointers)
        given = tuple(
            _place(argument, memory) if isinstance(argument, Pointer) else Number(argument, dtype)
            for argument, dtype in zip(arguments, self.dtypes, strict=True)
        )
        contents = tuple((part.read(), part.address % 64) for part in memory)
        request = Request(self.file, self.name, grid, given, contents)
        reply = _worker().run(request, seconds=options.timeout_seconds)
        sys.stdout.write(reply.printed)
        for part, after in zip(memory, reply.storages, strict=True):
            if after is not None:
                ctypes.memmove(part.address, after, part.size)
        if reply.failure is not None:
            raise self._error(reply.failure)
        return perf_counter() - start

    def _error(self, failure: Failure) -> ExecutionError:
        place = self.lines.get(str(failure.line))
        location = {} if place is None else {"location": Location(*place)}
        program = f"in program ({', '.join(map(str, failure.program))})"
        if failure.assertion:
            return ExecutionError(
                error("X0405", f"assertion failed: {failure.message}", note=program, **location)  # type: ignore[arg-type]
            )
        return ExecutionError(
            error(
                "X0735",
                f"Triton's interpreter failed: {failure.kind}: {failure.message}",
                note=f"{program}, line {failure.line} of {self.file}" if failure.line else failure.traceback,
                help='compare with the backend "reference"; if that runs, report it with the kernel',
                **location,  # type: ignore[arg-type]
            )
        )


def merged(pointers: list[Pointer]) -> list[Memory]:
    """The storages of pointers, those that overlap as one; LaunchError X0734 where a size is not known."""
    for pointer in pointers:
        if pointer.storage_bytes < 0:
            raise LaunchError(
                error(
                    "X0734",
                    f"the size of argument {pointer.name!r} is not known, so it cannot be copied",
                    help="pass a numpy array or a tensor, or give the object the attribute nbytes",
                )
            )
    found: list[Memory] = []
    for pointer in sorted(pointers, key=lambda pointer: pointer.storage_address):
        start, end = pointer.storage_address, pointer.storage_address + pointer.storage_bytes
        if found and start < found[-1].address + found[-1].size:
            last = found.pop()
            end = max(end, last.address + last.size)
            start = last.address
        found.append(Memory(start, end - start))
    return found


def _place(pointer: Pointer, memory: list[Memory]) -> Place:
    for number, part in enumerate(memory):
        if part.address <= pointer.storage_address < part.address + max(1, part.size):
            return Place(number, pointer.address - part.address, pointer.dtype.name)
    raise AssertionError("every pointer has a storage")
