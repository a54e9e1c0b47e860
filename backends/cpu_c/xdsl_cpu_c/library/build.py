"""A library from a kernel's source: the kernel, the thread pool and a checked C function around them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from xdsl_core.backend import Artifact, Source
from xdsl_core.backend.toolchain import CompileFailure, Compiler, archive, compile_object, link_shared
from xdsl_core.diagnostics import CompilationError
from xdsl_cpu_c.build import OVERLAPPING, refused
from xdsl_cpu_c.library.abi import LibraryAbi, describe_library
from xdsl_cpu_c.machines import Machine
from xdsl_cpu_c.runtime.abi import BODY_SYMBOL
from xdsl_cpu_c.runtime.load import SOURCES

HEADER, CODE, EXAMPLE = "library.h.j2", "library.c.j2", "library_example.c.j2"
_HIDDEN = "-fvisibility=hidden"
_LINK = ("-lm", "-pthread")


def build_library(
    source: Source,
    name: str,
    workdir: Path,
    compiler: Compiler,
    *,
    templates: Mapping[str, str],
    machine: Machine,
) -> Artifact:
    """lib<name>.so, lib<name>.a, <name>.h, <name>_example.c and <name>.json, the ABI as data.

    The function <name> checks its arguments and runs the grid on a thread pool of the library's own; programs
    that link several such libraries statically share one pool. Errors: X0701 where the C compiler refuses
    what was generated.
    """
    abi = describe_library(name, source.metadata, source.files, machine)
    text = {template: _rendered(templates[template], abi) for template in (HEADER, CODE, EXAMPLE)}
    try:
        objects = _objects(source, abi, text, workdir, compiler)
        shared = link_shared(objects, workdir / f"lib{name}.so", compiler=compiler, extra=_LINK)
        static = archive(objects, workdir / f"lib{name}.a", compiler=compiler)
    except CompileFailure as failure:
        raise CompilationError(refused(failure, compiler, "the library's code")) from failure
    files: dict[str, bytes | Path] = {
        shared.name: shared,
        static.name: static,
        f"{name}.h": text[HEADER].encode(),
        f"{name}_example.c": text[EXAMPLE].encode(),
        f"{name}.json": (json.dumps(abi.as_json(), indent=2) + "\n").encode(),
    }
    return Artifact(files, {"name": name})


def _objects(
    source: Source, abi: LibraryAbi, text: Mapping[str, str], workdir: Path, compiler: Compiler
) -> list[Path]:
    """The object files of a library: kernel variants under names of their own, the function, the pool."""
    (workdir / f"{abi.name}.h").write_text(text[HEADER])

    def compiled(stem: str, code: str, *extra: str, native: bool) -> Path:
        output = workdir / f"{abi.name}_{stem}.o"
        return compile_object(code, output, compiler=compiler, native=native, extra=(_HIDDEN, *extra))

    objects = [compiled("kernel", source.text, *_renamed(abi.name), native=True)]
    if abi.has_overlapping:
        renamed = _renamed(f"{abi.name}_overlapping")
        objects.append(compiled("overlapping", source.files[OVERLAPPING], *renamed, native=True))
    objects.append(compiled("library", text[CODE], native=False))
    # a name without the library's: linked with a second library, one pool serves both
    pool = workdir / "xdsl_pool.o"
    extra = (_HIDDEN, "-pthread")
    objects.append(
        compile_object(SOURCES["pool.c"].read_text(), pool, compiler=compiler, native=False, extra=extra)
    )
    return objects


def _renamed(prefix: str) -> tuple[str, str]:
    """Options that give a kernel's global symbols the library's name in front."""
    return tuple(f"-D{symbol}={prefix}_{symbol}" for symbol in (BODY_SYMBOL, "failure"))  # type: ignore[return-value]


def _rendered(template: str, abi: LibraryAbi) -> str:
    return str(_compiled(template).render(abi=abi, NAME=abi.name.upper(), functions=_functions(abi)))


def _functions(abi: LibraryAbi) -> list[dict[str, Any]]:
    """The exported functions: name, kernel body, and the record of a failed assertion."""
    variants = ("", "_overlapping") if abi.has_overlapping else ("",)
    return [{"name": f"{abi.name}{variant}", "overlapping": bool(variant)} for variant in variants]


@cache
def _compiled(text: str) -> Any:
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["c_string"] = json.dumps
    return environment.from_string(text)
