"""The C compiler: finding it, its flags, building shared objects, and an identity for cache keys."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from xdsl_core.backend.host import processor_identity

Kind = Literal["gcc", "clang", "zig"]

# The defaults. No -ffast-math: NaN and infinity stay right, and loading a kernel must not turn on
# flush-to-zero.
KERNEL_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-ftree-vectorize",
    "-mprefer-vector-width=256",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fPIC",
    "-shared",
)
_KIND_FLAGS: Mapping[Kind, tuple[str, ...]] = {
    "gcc": ("-march=native", "-Wno-psabi"),
    "clang": ("-march=native",),
    # zig traps on undefined behaviour unless told otherwise.
    "zig": ("-mcpu=native", "-fno-sanitize=undefined"),
}
NATIVE_FLAGS = frozenset({"-march=native", "-mcpu=native"})
"""Flags that let the compiler use every instruction this machine's processor has."""
# Without these nothing can be built, so they are not probed.
_ESSENTIAL_FLAGS = frozenset({"-O2", "-fPIC", "-shared"})

# Needs what generated kernels need: the C headers and the vector extensions of GNU C.
_PROBE_SOURCE = """\
#include <stdint.h>
#include <math.h>
typedef float vector __attribute__((vector_size(32), aligned(4)));
void probe(vector *out, const vector *in, int64_t n) { for (int64_t i = 0; i < n; i++) out[i] += in[i]; }
"""

INSTALL_HINT = (
    "install a C compiler (gcc or clang), or run `pip install ziglang` (used as `python -m ziglang cc`)"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler that was found and tried: its command, version, kind, and the default flags it knows."""

    command: tuple[str, ...]
    version: str
    kind: Kind
    flags: tuple[str, ...]


class NoCompilerError(Exception):
    """No usable C compiler: `reason` says what was tried, `fix` what to do."""

    def __init__(self, reason: str, fix: str = INSTALL_HINT) -> None:
        super().__init__(f"{reason}; {fix}")
        self.reason = reason
        self.fix = fix


class CompileFailure(Exception):
    """The C compiler refused a source we generated: its message and the file it was given."""

    def __init__(self, stderr: str, source: Path, command: Sequence[str]) -> None:
        super().__init__(f"the C compiler failed on {source}:\n{stderr}")
        self.stderr = stderr
        self.source = source
        self.command = tuple(command)


def find_compiler(*, cache_dir: Path | None = None, environ: Mapping[str, str] | None = None) -> Compiler:
    """The C compiler to use: $XDSL_CC, $CC, cc, gcc, clang, then the one inside the package ziglang.

    What is learnt about a compiler is kept in `cache_dir` under its path, time and size, so that a later
    process starts no compiler to ask again. Raises NoCompilerError; a compiler named by $XDSL_CC is never
    replaced by another.
    """
    env = os.environ if environ is None else environ
    return _find(env.get("XDSL_CC", ""), env.get("CC", ""), env.get("PATH", os.defpath), cache_dir)


def describe_compiler(command: tuple[str, ...], *, cache_dir: Path | None = None) -> Compiler:
    """The compiler that a command starts (its program as a full path), tried. Raises NoCompilerError."""
    try:
        return _describe(command, cache_dir)
    except _Unusable as problem:
        raise NoCompilerError(f"`{' '.join(command)}` does not work ({problem})") from None


def compile_shared(
    source: str,
    output: Path,
    *,
    compiler: Compiler,
    flags: Sequence[str] | None = None,
    extra: Sequence[str] = (),
) -> Path:
    """Build C text into the shared object `output`, keeping the text beside it as `.c`; returns `output`.

    `flags` replaces the compiler's default flags, `extra` follows them. Both files appear whole or not at
    all, so processes may build the same output at once. Raises CompileFailure.
    """
    return _build(source, output, compiler, compiler.flags if flags is None else flags, extra)


def compile_object(
    source: str, output: Path, *, compiler: Compiler, native: bool = True, extra: Sequence[str] = ()
) -> Path:
    """Build C text into the object file `output`, as `compile_shared` does.

    `native=False` uses no instruction that only this machine's processor is known to have. Raises
    CompileFailure.
    """
    chosen = [flag for flag in compiler.flags if flag != "-shared"]
    if not native:
        chosen = [flag for flag in chosen if flag not in NATIVE_FLAGS]
    return _build(source, output, compiler, ("-c", *chosen), extra)


def link_shared(objects: Sequence[Path], output: Path, *, compiler: Compiler, extra: Sequence[str]) -> Path:
    """Link object files into the shared object `output`. Raises CompileFailure."""
    command = (*compiler.command, "-shared", *map(str, objects), "-o", str(output), *extra)
    status, _, stderr = _execute(command)
    if status != 0:
        raise CompileFailure(stderr, objects[0], command)
    return output


def archive(objects: Sequence[Path], output: Path, *, compiler: Compiler) -> Path:
    """Put object files into the static library `output`, with $AR or the `ar` of the compiler's package.

    Raises CompileFailure.
    """
    zig = compiler.command[:-1] if compiler.kind == "zig" else ()
    program = shlex.split(os.environ.get("AR", "")) or [*zig, "ar"]
    command = (*program, "rcs", str(output), *map(str, objects))
    status, _, stderr = _execute(command)
    if status != 0:
        raise CompileFailure(stderr, output, command)
    return output


def _build(source: str, output: Path, compiler: Compiler, flags: Sequence[str], extra: Sequence[str]) -> Path:
    import tempfile

    output.parent.mkdir(parents=True, exist_ok=True)
    kept = output.with_suffix(".c")
    # A folder of this build alone; names in it stay the same, because they end up in what is built. Headers
    # are found beside the output.
    command = (*compiler.command, *flags, "-I..", kept.name, "-o", output.name, *extra)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f"{output.stem}-") as folder:
        (Path(folder) / kept.name).write_text(source)
        status, _, stderr = _execute(command, directory=Path(folder))
        os.replace(Path(folder) / kept.name, kept)
        if status != 0:
            raise CompileFailure(stderr, kept, command)
        os.replace(Path(folder) / output.name, output)
    return output


def fingerprint(compiler: Compiler, *, flags: Sequence[str] | None = None) -> str:
    """Hash of all that decides what the compiler makes of a source: itself, its flags, and this processor."""
    chosen = compiler.flags if flags is None else flags
    parts = [*compiler.command, *_stamp(compiler.command), compiler.version, compiler.kind, *chosen]
    return _digest([*parts, processor_identity()])


@functools.lru_cache(maxsize=16)
def _find(xdsl_cc: str, cc: str, path: str, cache_dir: Path | None) -> Compiler:
    failures: list[str] = []
    for label, candidate in _candidates(xdsl_cc, cc):
        command = _resolve(candidate, path)
        if command is None:
            failures.append(f"{label} is not there")
            continue
        try:
            return _describe(command, cache_dir)
        except _Unusable as error:
            failures.append(f"{label} does not work ({error})")
    if xdsl_cc:
        raise NoCompilerError(
            f"the C compiler named by XDSL_CC cannot be used: {failures[0]}", "correct or unset XDSL_CC"
        )
    raise NoCompilerError(f"no C compiler was found: {', '.join(failures)}")


class _Unusable(Exception):
    """A compiler that is present and cannot build what kernels need."""


def _candidates(xdsl_cc: str, cc: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Label and command of each compiler to try, best first."""
    if xdsl_cc:
        yield f"`{xdsl_cc}`", tuple(shlex.split(xdsl_cc))
        return
    if cc:
        yield f"`{cc}` (from CC)", tuple(shlex.split(cc))
    for name in ("cc", "gcc", "clang"):
        yield name, (name,)
    if _ziglang_binary() is not None:
        yield "the package ziglang", (sys.executable, "-m", "ziglang", "cc")
    else:
        yield "the package ziglang", ()


def _resolve(command: tuple[str, ...], path: str) -> tuple[str, ...] | None:
    """The command with its program as a full path, or None where there is no such program."""
    if not command:
        return None
    program = command[0]
    folders = [""] if os.sep in program else path.split(os.pathsep)
    for folder in folders:
        full = os.path.join(folder, program)
        if os.path.isfile(full) and os.access(full, os.X_OK):
            return (os.path.abspath(full), *command[1:])
    return None


def _ziglang_binary() -> str | None:
    from importlib.util import find_spec

    spec = find_spec("ziglang")
    if spec is None or not spec.origin:
        return None
    return os.path.join(os.path.dirname(spec.origin), "zig")


def _stamp(command: Iterable[str]) -> list[str]:
    """Path, time and size of every file the command names: changes when a compiler is replaced by another."""
    words = [word for word in command if os.sep in word]
    if "ziglang" in command:
        words.append(_ziglang_binary() or "")
    stamps: list[str] = []
    for word in words:
        with suppress(OSError):
            status = os.stat(word)
            stamps.append(f"{word}:{status.st_mtime_ns}:{status.st_size}")
    return stamps


def _describe(command: tuple[str, ...], cache_dir: Path | None) -> Compiler:
    """The compiler behind `command`, from the probe cache or by trying it. Raises _Unusable."""
    if cache_dir is None:
        return _probe(command)
    asked = [*KERNEL_FLAGS, *(flag for flags in _KIND_FLAGS.values() for flag in flags)]
    key = _digest([*command, *_stamp(command), os.uname().machine, _PROBE_SOURCE, *asked])
    file = cache_dir / f"compiler-{key[:24]}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(file.read_text())
        return Compiler(command, str(known["version"]), known["kind"], tuple(known["flags"]))
    compiler = _probe(command)
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        cache_dir.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.name}.{os.getpid()}")
        temporary.write_text(json.dumps(asdict(compiler), indent=1))
        os.replace(temporary, file)
    return compiler


def _probe(command: tuple[str, ...]) -> Compiler:
    """Try a compiler: its version, and which of our flags it knows. Raises _Unusable."""
    import tempfile

    status, output, stderr = _execute((*command, "--version"))
    if status != 0:
        raise _Unusable(_first_line(stderr or output))
    kind = _kind(command, output)
    wanted = (*KERNEL_FLAGS, *_KIND_FLAGS[kind])
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        (directory / "probe.c").write_text(_PROBE_SOURCE)
        flags = _known_flags(command, wanted, directory)
    return Compiler(command, _first_line(output), kind, flags)


def _known_flags(command: tuple[str, ...], wanted: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Those of the wanted flags that the compiler takes without an error or a warning. Raises _Unusable."""

    def message(flags: Iterable[str]) -> str | None:
        probe = (*command, "-Werror", *flags, "probe.c", "-o", "probe.so")
        status, _, stderr = _execute(probe, directory=directory)
        return None if status == 0 else _first_line(stderr)

    if message(wanted) is None:
        return wanted
    essential = tuple(flag for flag in wanted if flag in _ESSENTIAL_FLAGS)
    failure = message(essential)
    if failure is not None:
        raise _Unusable(failure)
    return tuple(flag for flag in wanted if flag in essential or message((*essential, flag)) is None)


def _kind(command: tuple[str, ...], version: str) -> Kind:
    if any(os.path.basename(word) in ("zig", "ziglang") for word in command):
        return "zig"
    return "clang" if "clang" in version.lower() else "gcc"


def _execute(command: Sequence[str], *, directory: Path | None = None) -> tuple[int, str, str]:
    """Exit status, output and error output of a command, in English; status 127 if it cannot be started."""
    import subprocess

    environ = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=directory, env=environ, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        return 127, "", str(error)
    return done.returncode, done.stdout, done.stderr


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "it gave no message")


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
