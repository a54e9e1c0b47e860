"""A vendor's machine: an environment of its own that finds this checkout and what it depends on, offline."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Vendor:
    """A virtual environment in `folder`, and commands run in it."""

    folder: Path

    @staticmethod
    def at(folder: Path) -> Vendor:
        """A new environment; it sees the packages of the one that runs the tests through a .pth file."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        found = Vendor(folder)
        packages = found.run("-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").stdout.strip()
        paths = {sysconfig.get_paths()[kind] for kind in ("purelib", "platlib")} | {str(ROOT)}
        lines = "".join(f"import site; site.addsitedir({path!r})\n" for path in sorted(paths))
        Path(packages, "_of_the_tests.pth").write_text(lines)
        return found

    def run(self, *arguments: str, directory: Path | None = None, ok: bool = True) -> Done:
        """Python of the environment with arguments; fails the test unless it ends as `ok` says."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["XDSL_CACHE_DIR"] = str(self.folder / "kernel-cache")
        command = [str(self.folder / "bin" / "python"), *arguments]
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) is ok, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return Done(done.returncode, done.stdout, done.stderr)

    def xdslc(self, *arguments: str, directory: Path | None = None, ok: bool = True) -> Done:
        """`xdslc` in the environment."""
        return self.run("-m", "xdsl_core.cli.main", *arguments, directory=directory, ok=ok)

    def install(self, project: Path) -> None:
        """What `pip install -e PROJECT` does, without network."""
        self.run(
            *("-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", "--no-deps"),
            *("--no-build-isolation", "--editable", str(project)),
        )


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit status."""

    status: int
    stdout: str
    stderr: str
