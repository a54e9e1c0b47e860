"""A built kernel in this process: its launcher, the variant for overlapping arguments, its assertions."""

from __future__ import annotations

import ctypes
import hashlib
from pathlib import Path
from time import perf_counter
from typing import Any

from xdsl_core.backend import Artifact, Executable, Grid
from xdsl_core.backend.toolchain import CompileFailure, Compiler, fingerprint
from xdsl_core.diagnostics import BackendError, Diagnostic, ExecutionError, LaunchError, Location, error
from xdsl_cpu_c.build import KERNEL, OVERLAPPING, compile_text, refused
from xdsl_cpu_c.options import threads_error
from xdsl_cpu_c.runtime.abi import ALIASED, ArgumentFault, Launcher, Parameter
from xdsl_cpu_c.runtime.load import Runtime, ThreadsError, load_runtime


class LoadedKernel:
    """Runs one kernel on arrays."""

    def __init__(self, artifact: Artifact, compiler: Compiler, folder: Path) -> None:
        self.artifact = artifact
        self.compiler = compiler
        self.folder = folder
        self.name: str = artifact.metadata["name"]
        self.parameters = tuple(Parameter(**fields) for fields in artifact.metadata["parameters"])
        self.assertions: list[list[Any]] = artifact.metadata["assertions"]
        self.threads: int = artifact.metadata["threads"] or 0
        self.runtime = runtime(folder, compiler)
        self.path = Path(artifact.files[KERNEL])  # type: ignore[arg-type]
        self.launcher = self._launcher(self.path, aliased_ok=False)
        self._overlapping: tuple[Path, Launcher] | None = None

    def run(self, grid: Grid, arguments: tuple[Any, ...]) -> float:
        """Run the grid; seconds it took. Raises LaunchError, and ExecutionError where an assertion failed."""
        start = perf_counter()
        self.direct(grid, arguments)
        return perf_counter() - start

    def direct(self, grid: Grid, arguments: tuple[Any, ...]) -> None:
        """Run the grid on arrays and numbers."""
        path = self.path
        try:
            if self.launcher(grid, arguments) == ALIASED:
                path, launcher = self.overlapping()
                launcher(grid, arguments)
        except ArgumentFault as fault:
            raise LaunchError(self._fault(fault)) from None
        if self.assertions:
            self._report_failure(path, grid)

    def overlapping(self) -> tuple[Path, Launcher]:
        """The variant that reads whole tiles before it writes, built when arguments first overlap."""
        if self._overlapping is None:
            if OVERLAPPING not in self.artifact.files:
                self._overlapping = self.path, self._launcher(self.path, aliased_ok=True)
            else:
                text = self.artifact.read(OVERLAPPING).decode()
                key = hashlib.sha256((fingerprint(self.compiler) + text).encode()).hexdigest()[:32]
                path = self.folder / "overlapping" / f"{key}.so"
                if not path.exists():
                    compile_text(text, path, self.compiler)
                self._overlapping = path, self._launcher(path, aliased_ok=True)
        return self._overlapping

    def _launcher(self, path: Path, *, aliased_ok: bool) -> Launcher:
        try:
            address = self.runtime.load_body(path)
        except OSError as cause:
            raise BackendError(_unloadable(self.name, cause)) from cause
        launcher = self.runtime.make_launcher(address, self.parameters, aliased_ok=aliased_ok)
        launcher.threads = self.threads
        return launcher

    def _fault(self, fault: ArgumentFault) -> Any:
        if 0 <= fault.index < len(self.parameters):
            what = f"argument {self.parameters[fault.index].name!r} of {self.name} {fault.reason}"
        else:
            what = f"{self.name}: {fault.reason}"
        return error("X0702", what, help="pass a copy: aligned, in host memory, and writable")

    def _report_failure(self, path: Path, grid: Grid) -> None:
        record = (ctypes.c_int64 * 2).in_dll(ctypes.CDLL(str(path)), "failure")
        site, program = record
        if not site:
            return
        record[0] = record[1] = 0
        message, *place = self.assertions[site - 1]
        x, y, z = program % grid[0], program // grid[0] % grid[1], program // grid[0] // grid[1]
        raise ExecutionError(
            error(
                "X0405",
                f"assertion failed: {message}",
                location=Location(*place),
                label="false in a lane that is not masked off",
                note=f"in program ({x}, {y}, {z})",
            )
        )


def runtime(folder: Path, compiler: Compiler) -> Runtime:
    """The runtime library, built in `folder` where it is not there yet.

    Raises BackendError: X0701 where the C compiler refuses it, X0704 for a bad XDSL_NUM_THREADS, X0705 where
    files cannot be written or loaded.
    """
    try:
        return load_runtime(folder, compiler)
    except CompileFailure as failure:
        raise BackendError(refused(failure, compiler, "the runtime library of cpu_c")) from failure
    except ThreadsError as cause:
        raise BackendError(threads_error(f"XDSL_NUM_THREADS is {cause.text!r}")) from None
    except OSError as cause:
        raise BackendError(_unloadable("the runtime library of cpu_c", cause)) from cause


def _unloadable(what: str, cause: OSError) -> Diagnostic:
    return error(
        "X0705",
        f"{what} cannot be loaded: {cause}",
        help="the cache folder must be writable, and allow programs to be run from it: set XDSL_CACHE_DIR",
    )


def load(artifact: Artifact, compiler: Compiler, folder: Path) -> Executable:
    """The artifact, ready to run."""
    kernel = LoadedKernel(artifact, compiler, folder)
    return Executable(kernel, kernel.direct, takes_objects=True)
