"""Writes the repository of a new backend from the files beside this module."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from xdsl_core import __version__
from xdsl_core.diagnostics import BackendError, error

_FILES = Path(__file__).parent / "files"
_SUFFIX = ".j2"
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def write_backend(name: str, directory: Path, *, taken: Iterable[str] = ()) -> tuple[Path, ...]:
    """Write a new backend called `name` into `directory` (made if missing) and return its files.

    `name` becomes the backend's name and its import package: lower case with underscores. `taken` are names
    of backends that exist. BackendError X0841 for a name that cannot be used, X0842 if the directory holds
    one of the files already; then nothing is written.
    """
    check_name(name, taken=taken)
    texts = dict(render(name))
    present = sorted(path for path in texts if (directory / path).exists())
    if present:
        raise BackendError(
            error(
                "X0842",
                f"{directory} holds {present[0]} already",
                note=f"{len(present)} of {len(texts)} files are there" if len(present) > 1 else "",
                help="choose another folder with --directory, or move what is there",
            )
        )
    for path, text in texts.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tuple(directory / path for path in texts)


def check_name(name: str, *, taken: Iterable[str] = ()) -> None:
    """BackendError X0841 unless a new backend may be called `name`."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        near = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]+", "_", _lower(name))).strip("_").lstrip("0123456789_")
        usable = bool(_NAME.fullmatch(near)) and not keyword.iskeyword(near)
        raise _unusable(
            name,
            "a backend's name is also the name of its Python package",
            f"did you mean {near!r}?" if usable else "write something like 'acme_npu'",
        )
    if name in taken:
        raise _unusable(name, "there is a backend of this name", f"choose another, such as 'acme_{name}'")
    if name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        raise _unusable(
            name, "there is a Python package of this name", f"choose another, such as '{name}_chip'"
        )


def _lower(name: str) -> str:
    """Lower case, with a break where a small letter meets a capital (AcmeNpu: acme_npu)."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _unusable(name: str, why: str, fix: str) -> BackendError:
    rule = "lower-case letters, digits and single underscores, beginning with a letter"
    return BackendError(
        error("X0841", f"a backend cannot be called {name!r}: {why}", requires=rule, help=fix)
    )


def render(name: str) -> Iterator[tuple[str, str]]:
    """Path and text of every file of a backend called `name`."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    words = {
        "name": name,
        "distribution": name.replace("_", "-"),
        "title": _title(name),
        "xdsl_version": __version__,
    }
    for file in sorted(path for path in _FILES.rglob(f"*{_SUFFIX}") if path.is_file()):
        relative = file.relative_to(_FILES).as_posix().removesuffix(_SUFFIX)
        first, *rest = PurePosixPath(relative).parts
        # wheels leave hidden files out, so none is called so here
        folder = f"src/{name}" if first == "package" else first.replace("dot_", ".")
        template = environment.from_string(file.read_text(encoding="utf-8"))
        yield str(PurePosixPath(folder, *rest)), template.render(words)


def _title(name: str) -> str:
    """Words for people: short ones are taken for abbreviations (acme_npu: Acme NPU)."""
    return " ".join(word.upper() if len(word) < 4 else word.capitalize() for word in name.split("_"))
