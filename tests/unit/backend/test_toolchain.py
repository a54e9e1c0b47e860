"""Finding a C compiler, its flags, building shared objects, cache identity; facts about the host."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from xdsl_core.backend import host, toolchain
from xdsl_core.backend.toolchain import (
    CompileFailure,
    NoCompilerError,
    compile_shared,
    find_compiler,
    fingerprint,
)

pytestmark = pytest.mark.compiler

FAKE_COMPILER = """\
#!/bin/sh
echo "$@" >> {log}
case "$*" in *--version*) echo "fakecc 1.0 Free Software"; exit 0;; esac
case "$*" in *-mprefer-vector-width*) echo "unknown option" >&2; exit 1;; esac
for word in "$@"; do case "$word" in *.so) : > "$word";; esac; done
"""


@pytest.fixture
def fake_compiler(tmp_path: Path) -> tuple[Path, Path]:
    """A compiler that logs its calls and knows every flag but one; (program, log)."""
    program, log = tmp_path / "fakecc", tmp_path / "log"
    program.write_text(FAKE_COMPILER.format(log=log))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, log


def test_compiler_builds_a_shared_object_that_loads(tmp_path: Path) -> None:
    compiler = find_compiler(cache_dir=tmp_path)
    output = compile_shared("int answer(void) { return 42; }", tmp_path / "deep" / "a.so", compiler=compiler)
    assert ctypes.CDLL(str(output)).answer() == 42
    assert sorted(path.name for path in output.parent.iterdir()) == ["a.c", "a.so"]


def test_flags_are_those_the_compiler_knows(tmp_path: Path, fake_compiler: tuple[Path, Path]) -> None:
    compiler = find_compiler(cache_dir=tmp_path, environ={"XDSL_CC": str(fake_compiler[0])})
    assert "-mprefer-vector-width=256" not in compiler.flags
    assert {"-O2", "-fPIC", "-shared", "-fwrapv", "-fno-math-errno"} <= set(compiler.flags)
    assert compiler.version == "fakecc 1.0 Free Software"
    assert compiler.kind == "gcc"


def test_loading_a_library_keeps_denormals(tmp_path: Path) -> None:
    compiler = find_compiler(cache_dir=tmp_path)
    output = compile_shared("int f(void) { return 0; }", tmp_path / "denormal.so", compiler=compiler)
    ctypes.CDLL(str(output))
    smallest = sys.float_info.min
    assert smallest / 2 * 2 == smallest
    assert not {"-ffast-math", "-Ofast"} & set(compiler.flags)


def test_probe_is_kept_until_the_compiler_changes(tmp_path: Path, fake_compiler: tuple[Path, Path]) -> None:
    program, log = fake_compiler
    cache, environ = tmp_path / "cache", {"XDSL_CC": str(program)}
    first = find_compiler(cache_dir=cache, environ=environ)
    calls = log.read_text()
    toolchain._find.cache_clear()
    assert find_compiler(cache_dir=cache, environ=environ) == first
    assert log.read_text() == calls
    program.write_text(program.read_text().replace("1.0", "1.1.0"))
    toolchain._find.cache_clear()
    second = find_compiler(cache_dir=cache, environ=environ)
    assert second.version == "fakecc 1.1.0 Free Software"
    assert fingerprint(second) != fingerprint(first)


def test_damaged_probe_file_is_probed_again(tmp_path: Path, fake_compiler: tuple[Path, Path]) -> None:
    environ = {"XDSL_CC": str(fake_compiler[0])}
    first = find_compiler(cache_dir=tmp_path, environ=environ)
    (file,) = tmp_path.glob("compiler-*.json")
    file.write_text("{")
    toolchain._find.cache_clear()
    assert find_compiler(cache_dir=tmp_path, environ=environ) == first


def test_explicit_compiler_is_never_replaced(tmp_path: Path) -> None:
    with pytest.raises(NoCompilerError) as caught:
        find_compiler(environ={"XDSL_CC": str(tmp_path / "nothing"), "PATH": os.environ["PATH"]})
    assert "XDSL_CC" in caught.value.reason
    assert "XDSL_CC" in caught.value.fix


def test_no_compiler_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "_ziglang_binary", lambda: None)
    with pytest.raises(NoCompilerError) as caught:
        find_compiler(environ={"PATH": str(tmp_path)})
    assert "cc is not there" in caught.value.reason
    assert "pip install ziglang" in caught.value.fix


def test_compiler_that_cannot_build_is_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'cc: no licence' >&2\nexit 1\n")
    broken.chmod(0o755)
    real = find_compiler()
    found = find_compiler(environ={"PATH": f"{tmp_path}{os.pathsep}{os.path.dirname(real.command[0])}"})
    assert found.command != (str(broken),)
    with pytest.raises(NoCompilerError, match="no licence"):
        find_compiler(environ={"XDSL_CC": str(broken)})


def test_compile_failure_keeps_the_source_and_the_message(tmp_path: Path) -> None:
    compiler = find_compiler(cache_dir=tmp_path)
    with pytest.raises(CompileFailure) as caught:
        compile_shared("int broken(void) { return missing; }", tmp_path / "b.so", compiler=compiler)
    assert "missing" in caught.value.stderr
    assert caught.value.source == tmp_path / "b.c"
    assert "missing" in caught.value.source.read_text()
    assert not list(tmp_path.glob("*.so"))


def test_processes_may_build_the_same_output_at_once(tmp_path: Path) -> None:
    find_compiler(cache_dir=tmp_path)
    program = (
        "import sys, ctypes, pathlib; from xdsl_core.backend.toolchain import *\n"
        "folder = pathlib.Path(sys.argv[1]); compiler = find_compiler(cache_dir=folder)\n"
        "output = compile_shared('int f(void) { return 7; }', folder / 'k.so', compiler=compiler)\n"
        "assert ctypes.CDLL(str(output)).f() == 7"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", program, str(tmp_path)]
    processes = [subprocess.Popen(command, env=environ) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert sorted(path.name for path in tmp_path.glob("k*")) == ["k.c", "k.so"]


def test_fingerprint_follows_flags_and_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = find_compiler(cache_dir=tmp_path)
    here = fingerprint(compiler)
    assert here == fingerprint(compiler)
    assert here != fingerprint(compiler, flags=("-O0", "-fPIC", "-shared"))
    monkeypatch.setattr(toolchain, "processor_identity", lambda: "another processor")
    assert here != fingerprint(compiler)


def test_host_description_of_this_machine() -> None:
    description = host.describe_host()
    assert description.cores >= 1
    assert description.cache_size(1) >= 8 << 10
    assert description.vector_bytes in (16, 32, 64)
    assert description.page_size >= 4096


def test_host_description_from_files(tmp_path: Path) -> None:
    cache = tmp_path / "sys/devices/system/cpu/cpu0/cache"
    rows = [("Data", "1", "48K", "0"), ("Instruction", "1", "32K", "0"), ("Unified", "3", "36M", "0-7,16")]
    for number, (kind, level, size, cores) in enumerate(rows):
        folder = cache / f"index{number}"
        folder.mkdir(parents=True)
        names = ("type", "level", "size", "shared_cpu_list")
        for name, text in zip(names, (kind, level, size, cores), strict=True):
            (folder / name).write_text(text + "\n")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(
        "model name\t: Test CPU\nflags\t\t: avx2 fma avx512f\n\nmodel name\t: Other\n"
    )
    description = host.describe_host(root=tmp_path)
    assert description.model == "Test CPU"
    assert description.vector_bytes == 64
    assert [(c.level, c.size, c.shared_by) for c in description.caches] == [
        (1, 48 << 10, 1),
        (3, 36 << 20, 9),
    ]
    assert description.cache_size(2) == 0


def test_host_description_without_any_source(tmp_path: Path) -> None:
    description = host.describe_host(root=tmp_path)
    assert description.cache_size(1) > 0
    assert description.vector_bytes >= 16


def test_what_is_built_is_the_same_each_time_and_finds_headers_beside_it(tmp_path: Path) -> None:
    compiler, built = find_compiler(), []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answer.h").write_text("#define ANSWER 42\n")
        text = '#include "answer.h"\nint answer(void) { return ANSWER; }\n'
        built.append(compile_shared(text, tmp_path / name / "a.so", compiler=compiler).read_bytes())
    assert built[0] == built[1]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["a.c", "a.so", "answer.h"]
