"""Generated files: kept by content, and imported as modules of their own."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from xdsl_core.backend.cache_folder import cache_folder

FOLDER = "gpu_triton"


def generated_file(text: str) -> Path:
    """The file that holds a text, written if it is not there; its name is the text's hash."""
    folder = cache_folder() / FOLDER / "sources"
    path = folder / f"gen_{hashlib.sha256(text.encode()).hexdigest()[:20]}.py"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    return path


def import_file(path: Path) -> ModuleType:
    """The module of a generated file, imported once."""
    name = f"_xdsl_{path.stem}"
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
