"""What all tests share: their own kernel cache, the golden-file switch, a summary of what was left out."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

try:
    from hypothesis import settings
except ImportError:
    pass
else:
    settings.register_profile("xdsl_core", deadline=None, derandomize=True, database=None, print_blob=True)
    settings.load_profile("xdsl_core")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew instead of comparing",
    )


def has_compiler() -> bool:
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    return (
        any(shutil.which(name) for name in names if name) or importlib.util.find_spec("ziglang") is not None
    )


MISSING = {
    "torch": (
        lambda: importlib.util.find_spec("torch") is None,
        "PyTorch is not installed",
        "pip install torch --index-url https://download.pytorch.org/whl/cpu",
    ),
    "triton": (
        lambda: importlib.util.find_spec("triton") is None,
        "Triton is not installed",
        'pip install "xdsl-core[triton]"',
    ),
    "compiler": (lambda: not has_compiler(), "no C compiler was found", "pip install ziglang"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, (missing, reason, fix) in MISSING.items():
        if missing():
            skip = pytest.mark.skip(reason=f"{reason}; {fix}")
            for item in items:
                if marker in item.keywords:
                    item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for marker, (missing, reason, fix) in MISSING.items():
        if missing():
            terminalreporter.write_sep(
                "!", f"{reason}: every test marked `{marker}` was skipped; {fix}", red=True
            )


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The disk cache of compiled kernels of this test run: the user's own is neither read nor filled."""
    folder = tmp_path_factory.mktemp("kernel-cache")
    os.environ["XDSL_CACHE_DIR"] = str(folder)
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with tests/golden/NAME; `--update-golden` writes the file instead."""
    folder = Path(__file__).parent / "golden"
    update = request.config.getoption("--update-golden")

    def compare(name: str, text: str) -> None:
        path = folder / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing; write it with: pytest --update-golden"
        assert text == path.read_text(encoding="utf-8"), (
            f"{name} differs; accept it with: pytest --update-golden"
        )

    return compare
