"""Sets up .venv for a make target: creates it and installs what the target needs; the second time, nothing.

Needs nothing but Python's standard library, 3.10 or later. What was installed is remembered in
.venv/bootstrap.json beside a hash of pyproject.toml, so a changed dependency is installed at the next call.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "bootstrap.json"
MINIMUM = (3, 10)
TORCH = "torch==2.13.0"
TRITON = "triton>=3.6"
LIGER = "liger-kernel>=0.8"
# Programs of the system that some tests start, and Debian's packages that have them.
PROGRAMS = {
    "chromium": "chromium",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
}
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"

NO_VENV = """\
error: this Python ({python}) cannot create virtual environments: the module `{missing}` is missing.
  Debian, Ubuntu:  apt install python3-venv
  elsewhere:       install Python from https://www.python.org, then: make PYTHON=/path/to/python3"""

NO_COMPILER = """\
note: no C compiler found ($CC, cc, gcc, clang, or the package ziglang): the backend `cpu_c` is left out.
  With one command:  {python} -m pip install ziglang
  Debian, Ubuntu:    apt install gcc"""


def main() -> int:
    """Parses the command line and does the set-up; the exit status is 0 if the target can run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extras", default="", help="extras of the package to install, comma-separated")
    parser.add_argument("--torch", action="store_true", help="try to install a CPU build of PyTorch")
    parser.add_argument("--triton", action="store_true", help="try to install Triton")
    parser.add_argument(
        "--programs", action="store_true", help="try to install the programs that tests start"
    )
    parser.add_argument("--compiler", action="store_true", help="say so when no C compiler is found")
    options = parser.parse_args()

    if sys.version_info < MINIMUM:
        print(
            f"error: Python 3.10 or later is needed, this is {sys.version.split()[0]}; "
            "with another one installed: make PYTHON=python3.12",
            file=sys.stderr,
        )
        return 1
    if not create_environment():
        return 1
    stamp = read_stamp()
    if not install_package(stamp, {extra for extra in options.extras.split(",") if extra}):
        return 1
    if options.torch:
        install_torch(stamp)
    if options.triton:
        install_triton(stamp)
        install_liger(stamp)
    if options.programs:
        install_programs(stamp)
    if options.compiler and not has_compiler():
        print(NO_COMPILER.format(python=PYTHON.relative_to(ROOT)), file=sys.stderr)
    return 0


def create_environment() -> bool:
    """Creates .venv unless a working one is there."""
    if PYTHON.exists() and run(PYTHON, "-m", "pip", "--version", quiet=True):
        return True
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            print(NO_VENV.format(python=sys.executable, missing=module), file=sys.stderr)
            return False
    print(f"creating {VENV.relative_to(ROOT)} with Python {sys.version.split()[0]}")
    return run(sys.executable, "-m", "venv", "--clear", VENV)


def install_package(stamp: dict[str, Any], extras: set[str]) -> bool:
    """Installs the package in editable mode with `extras`, unless the stamp says that this was done."""
    wanted = fingerprint()
    installed = set(stamp.get("extras", ())) if stamp.get("package") == wanted else None
    if installed is not None and extras <= installed:
        return True
    everything = sorted(extras | (installed or set()))
    target = ".[" + ",".join(everything) + "]" if everything else "."
    print(f"installing {target} into {VENV.relative_to(ROOT)} (once)")
    if not run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", target):
        print("error: pip could not install the package; its message is above", file=sys.stderr)
        return False
    write_stamp(stamp, package=wanted, extras=everything)
    return True


def install_torch(stamp: dict[str, Any]) -> None:
    """Installs a CPU build of PyTorch if one can be had; never a CUDA build, and never an error.

    The tests that need PyTorch skip without it, and the test summary says so.
    """
    if os.environ.get("TORCH") == "no":
        return
    if run(PYTHON, "-c", "import torch", quiet=True) or stamp.get("torch") == fingerprint():
        return
    print(f"looking for a CPU build of {TORCH} (once; TORCH=no leaves it out)")
    for source in ((), ("--index-url", TORCH_CPU_INDEX)):
        if is_cpu_build(source) and run(PYTHON, "-m", "pip", "install", "--quiet", *source, TORCH):
            return
    print(
        f"note: no CPU build of {TORCH} can be had here; the tests that need it will be skipped",
        file=sys.stderr,
    )
    write_stamp(stamp, torch=fingerprint())


def install_triton(stamp: dict[str, Any]) -> None:
    """Installs Triton, which needs no GPU, if it can be had for this machine and Python; never an error.

    The tests that need it skip without it, and the test summary says so.
    """
    if os.environ.get("TRITON") == "no":
        return
    if run(PYTHON, "-c", "import triton", quiet=True) or stamp.get("triton") == fingerprint():
        return
    print(f"looking for {TRITON} (once; TRITON=no leaves it out)")
    if run(PYTHON, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", TRITON, quiet=True):
        return
    print(
        f"note: {TRITON} cannot be had here; the tests that need it will be skipped",
        file=sys.stderr,
    )
    write_stamp(stamp, triton=fingerprint())


def install_liger(stamp: dict[str, Any]) -> None:
    """Installs liger-kernel alone, whose operators a test runs; never an error, the test skips without it."""
    if stamp.get("liger") == fingerprint() or run(PYTHON, "-c", "import liger_kernel", quiet=True):
        return
    if not run(PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", LIGER, quiet=True):
        print(f"note: {LIGER} cannot be had here; its test will be skipped", file=sys.stderr)
    write_stamp(stamp, liger=fingerprint())


def install_programs(stamp: dict[str, Any]) -> None:
    """Installs the missing PROGRAMS where this is a Debian and we may; never an error.

    The tests that start one skip without it, and the test summary says so.
    """
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    allowed = os.environ.get("PROGRAMS") != "no" and hasattr(os, "geteuid") and os.geteuid() == 0
    if not missing or not allowed or shutil.which("apt-get") is None or stamp.get("programs") == missing:
        return
    names = " ".join(missing)
    print(f"installing {names} (once; PROGRAMS=no leaves them out)")
    install = ("apt-get", "install", "--yes", "--no-install-recommends", *missing)
    if not run(*install, quiet=True) and not (
        run("apt-get", "update", quiet=True) and run(*install, quiet=True)
    ):
        print(f"note: {names} cannot be had here; the tests that need them will be skipped", file=sys.stderr)
        write_stamp(stamp, programs=missing)


def is_cpu_build(source: tuple[str, ...]) -> bool:
    """Whether pip, asked without installing, would take a torch that brings no CUDA packages along."""
    report = VENV / "torch-plan.json"
    command = (PYTHON, "-m", "pip", "install", "--quiet", "--dry-run", "--retries", "1", "--timeout", "20")
    if not run(*command, "--report", report, *source, TORCH, quiet=True):
        return False
    plan = json.loads(report.read_text(encoding="utf-8"))
    names = [item["metadata"]["name"].lower() for item in plan["install"]]
    return not any(name.startswith(("nvidia", "cuda", "triton")) for name in names)


def has_compiler() -> bool:
    """Whether $CC, cc, gcc, clang or the package ziglang is there."""
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    if any(shutil.which(name.split()[0]) for name in names if name):
        return True
    return run(PYTHON, "-c", "import ziglang", quiet=True)


def fingerprint() -> str:
    """What an editable install depends on: pyproject.toml and the list of package folders."""
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    for pattern in ("*/xdsl_*/__init__.py", "*/*/xdsl_*/__init__.py"):
        for module in sorted(ROOT.glob(pattern)):
            digest.update(str(module.relative_to(ROOT)).encode())
    return digest.hexdigest()


def read_stamp() -> dict[str, Any]:
    """What earlier calls did; empty for a new environment."""
    return dict(json.loads(STAMP.read_text(encoding="utf-8"))) if STAMP.exists() else {}


def write_stamp(stamp: dict[str, Any], **facts: Any) -> None:
    """Adds `facts` to the stamp, in memory and on disk."""
    stamp.update(facts)
    STAMP.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")


def run(*command: object, quiet: bool = False) -> bool:
    """Runs a command in the repository's root; whether it succeeded."""
    output = subprocess.DEVNULL if quiet else None
    words = [str(word) for word in command]
    return subprocess.run(words, check=False, cwd=ROOT, stdout=output, stderr=output).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
