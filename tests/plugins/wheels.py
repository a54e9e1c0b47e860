"""Installs the test plug-ins without network: writes a wheel from each pyproject.toml for pip."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def build_wheel(project: Path, folder: Path) -> Path:
    """The wheel of a pure-Python project: its packages, and the metadata that its pyproject.toml states."""
    settings = tomllib.loads((project / "pyproject.toml").read_text())
    about = settings["project"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for package in settings["tool"]["setuptools"]["packages"]:
            for file in sorted((project / package).rglob("*.py")):
                archive.write(file, file.relative_to(project).as_posix())
        for name, text in _metadata(about).items():
            archive.writestr(f"{stem}.dist-info/{name}", text)
        record = "".join(f"{name},,\n" for name in [*archive.namelist(), f"{stem}.dist-info/RECORD"])
        archive.writestr(f"{stem}.dist-info/RECORD", record)
    return wheel


def _metadata(about: dict[str, Any]) -> dict[str, str]:
    groups = about.get("entry-points", {})
    entries = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items()) + "\n"
        for group, entries in groups.items()
    )
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": entries,
    }


def install(projects: list[Path], folder: Path, target: Path) -> None:
    """Installs projects into `target`; unpacks the wheels where the environment has no pip."""
    wheels = [build_wheel(project, folder) for project in projects]
    if importlib.util.find_spec("pip") is None:
        for wheel in wheels:
            zipfile.ZipFile(wheel).extractall(target)
        return
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--target", str(target), *map(str, wheels)], check=True)
