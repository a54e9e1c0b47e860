"""The C of the example kernels, as a person reads it: from `void body` on, the library's functions left out.

Accept a change with `pytest --update-golden`, after reading it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cpu_c.kernels import source_of
from xdsl_core.cli.kernels import choose
from xdsl_core.frontend.python.build import build_module

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
KERNELS = {
    "vector_add": "vector_add.py:add_kernel",
    "softmax": "fused_softmax.py:softmax_kernel",
    "layer_norm": "layer_norm.py:layer_norm_kernel",
    "matmul": "matmul.py:matmul_kernel",
    "flash_attention": "flash_attention.py:attention_kernel",
}


def body_of(name: str) -> str:
    chosen = choose(str(EXAMPLES / KERNELS[name]), None)
    text = source_of(build_module(chosen.kernel, chosen.specs, debug=False)).text
    return text[text.index("void body(") :]


@pytest.mark.parametrize("name", KERNELS)
def test_the_c_is_as_before(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"cpu_c/{name}.c", body_of(name))


@pytest.mark.parametrize("name", KERNELS)
def test_the_c_is_tidy(name: str) -> None:
    """What a reviewer would send back: doubled parentheses, copies of a name, ends computed twice."""
    text = body_of(name)
    code = [line.strip() for line in text.splitlines() if not line.strip().startswith("//")]
    assert not [line for line in code if re.search(r"\(\([^()]*\)\)", line) and "union" not in line]
    assert not [line for line in code if re.fullmatch(r"const \w+ \w+ = \w+;", line) and "(" not in line]
    scopes: list[set[str]] = [set()]
    for line in code:
        if line.startswith("}"):
            scopes.pop()
        value = re.fullmatch(r"const int64_t \w+ = (.+);", line)
        if value:
            assert not any(value[1] in scope for scope in scopes), line
            scopes[-1].add(value[1])
        if line.endswith("{"):
            scopes.append(set())


@pytest.mark.parametrize("name", KERNELS)
def test_comments_are_lines_of_the_kernel(name: str) -> None:
    lines = (EXAMPLES / KERNELS[name].partition(":")[0]).read_text(encoding="utf-8").splitlines()
    found = re.findall(r"// (\d+): (.*)", body_of(name))
    assert len(found) > 1
    assert all(lines[int(number) - 1].strip() == text for number, text in found)


@pytest.mark.parametrize("name", KERNELS)
def test_two_runs_give_one_text(name: str) -> None:
    assert body_of(name) == body_of(name)
