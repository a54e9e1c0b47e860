"""Generated kernels without their own C files: many in one shared object, each in both variants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl_core.backend import Source
from xdsl_core.backend.toolchain import Compiler, compile_shared
from xdsl_core.ir import Module
from xdsl_core.passes import run_pipeline
from xdsl_cpu_c.build import OVERLAPPING
from xdsl_cpu_c.codegen.kernel import generate
from xdsl_cpu_c.dot import AVX2
from xdsl_cpu_c.pipeline import cpu_pipeline
from xdsl_cpu_c.plugin import xdsl_templates
from xdsl_cpu_c.runtime.abi import Launcher, Parameter
from xdsl_cpu_c.runtime.load import Runtime


def source_of(module: Module) -> Source:
    """The C of a module fresh from the frontend (or from `case_of`), which is not changed."""
    lowered = run_pipeline(module.clone(), cpu_pipeline()).module
    return generate(lowered, xdsl_templates(), blocking=AVX2)


def variants(source: Source) -> tuple[str, ...]:
    """The C texts of a kernel: for arguments that do not overlap, and the one for all if that differs."""
    return (source.text, *(text for name, text in source.files.items() if name == OVERLAPPING))


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where tests build kernels.

    `optimise` builds with the flags of users; else the C compiler does as little as it can, which is quicker
    and leaves sums of products unfused.
    """

    folder: Path
    compiler: Compiler
    runtime: Runtime
    optimise: bool = False

    def launchers(self, sources: Sequence[Source], *, together: int = 24) -> list[tuple[Launcher, ...]]:
        """For each source a launcher a variant; `together` texts make one shared object."""
        texts = [(number, text) for number, source in enumerate(sources) for text in variants(source)]
        groups = [texts[start : start + together] for start in range(0, len(texts), together)]
        with ThreadPoolExecutor(2) as pool:
            paths = list(pool.map(self.build, [[text for _, text in group] for group in groups]))
        found: list[list[Launcher]] = [[] for _ in sources]
        for group, path in zip(groups, paths, strict=True):
            for place, (number, _) in enumerate(group):
                address = self.runtime.load_symbol(str(path), f"body_{place}")
                fields = sources[number].metadata["parameters"]
                slots = tuple(Parameter(**field) for field in fields)
                found[number].append(self.runtime.make_launcher(address, slots, aliased_ok=True))
        return [tuple(launchers) for launchers in found]

    def run(self, module: Module, *arguments: Any, grid: tuple[int, ...] = (1,)) -> Source:
        """Run the first variant of one kernel; gives its source."""
        source = source_of(module)
        extents = (*grid, 1, 1)[:3]
        self.launchers([source])[0][0](extents, arguments)  # type: ignore[arg-type]
        return source

    def build(self, texts: list[str]) -> Path:
        """A shared object of kernels `body_0`, `body_1` ..."""
        text = merged(texts)
        path = self.folder / f"kernels_{abs(hash(text)):x}.so"
        flags = self.compiler.flags
        if not self.optimise:
            flags = (*(flag for flag in flags if not re.match(r"-O|-ffp-contract|-ftree", flag)), "-O0")
        return compile_shared(text, path, compiler=self.compiler, flags=flags, extra=("-lm",))


def merged(texts: Iterable[str]) -> str:
    """One C file with the kernels `body_0`, `body_1` ... of several; what they share stands there once."""
    lines: dict[str, None] = {}
    for number, text in enumerate(texts):
        start = text.index("\nvoid body(")
        for paragraph in map(str.strip, text[:start].split("\n\n")):
            types_alone = paragraph.startswith("typedef") and "#" not in paragraph
            pieces = paragraph.split("\n") if types_alone else [paragraph]
            lines.update(dict.fromkeys(pieces))
        lines[text[start:].replace("void body(", f"void body_{number}(", 1)] = None
    return "\n\n".join(lines) + "\n"
