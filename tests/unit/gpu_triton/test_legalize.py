"""What the passes of gpu_triton make of each op gives the op's results, by the reference interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.gpu_triton.pipelines import TARGETS, is_first_of_kind, lowered
from xdsl_conformance.op_cases import mismatch_of
from xdsl_core.diagnostics import CompilationError
from xdsl_core.interp import run
from xdsl_core.ir import TileType
from xdsl_core.opdef import OpDef
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of, is_runnable
from xdsl_core.target.legality import check
from xdsl_gpu_triton.claims import capabilities
from xdsl_gpu_triton.codegen.spellings import HELPERS, SPELLINGS

RUNNABLE = [definition for definition in CORE if is_runnable(definition)]
# a compare-and-swap has no mask, and padding cannot be printed
REFUSED_SHAPES = {"atomic.cas", "debug.print"}


def problems(definition: OpDef, target_name: str, *, every: bool) -> tuple[int, list[str]]:
    """How many samples ran, and what is wrong with them."""
    target, ran, found = TARGETS[target_name], 0, []
    for number, sample in enumerate(definition.samples):
        if not every and not is_first_of_kind(definition, number):
            continue
        case = case_of(definition, sample, seed=number)
        if check(case.module, capabilities(target), backend="gpu_triton"):
            continue
        try:
            module = lowered(case.module, target)
        except CompilationError as problem:
            if problem.code != "X0732":
                raise
            continue
        for op in module.walk():
            for value in op.results:
                if isinstance(value.type, TileType):
                    assert all(extent & (extent - 1) == 0 for extent in value.type.shape)
        expected, got = case.fresh_arguments(), case.fresh_arguments()
        run(case.module, (1,), list(expected.values()))
        run(module, (1,), list(got.values()))
        ran += 1
        problem_text = mismatch_of(definition, sample, case, got, expected)
        if problem_text:
            found.append(f"{number} {dict(sample.types)} {dict(sample.attributes)}: {problem_text}")
    return ran, found


@pytest.mark.parametrize("definition", RUNNABLE, ids=lambda definition: definition.name)
def test_lowered_samples_give_the_same(definition: OpDef, capsys: Any) -> None:
    ran, found = problems(definition, "gfx942", every=False)
    assert not found
    assert ran or definition.name in REFUSED_SHAPES


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("definition", RUNNABLE, ids=lambda definition: definition.name)
def test_every_lowered_sample_gives_the_same(definition: OpDef, target: str, capsys: Any) -> None:
    assert not problems(definition, target, every=True)[1]


def test_helpers_are_called_by_the_table() -> None:
    texts = [row.text + str(dict(row.flags)) for rows in SPELLINGS.values() for row in rows]
    assert not [name for name in HELPERS if not any(name in text for text in texts)]


def test_products_of_u8_are_products_of_i8() -> None:
    dot = CORE["tile.dot"]
    sample = next(s for s in dot.samples if s.types["lhs"] == "tile<16x16xu8>")
    module = lowered(case_of(dot, sample).module, TARGETS["gfx942"])
    kinds = {str(op.operands[0].type) for op in module.walk() if op.definition is dot}
    assert kinds == {"tile<16x16xi8>"}


def test_small_products_are_sums_on_cuda_alone() -> None:
    dot = CORE["tile.dot"]
    sample = next(s for s in dot.samples if s.types["lhs"] == "tile<1x1xf32>")
    module = case_of(dot, sample).module
    names = {target: {op.name for op in lowered(module, TARGETS[target]).walk()} for target in TARGETS}
    assert "tile.dot" not in names["sm_90"]
    assert "tile.dot" not in names["sm_80"]
    assert "tile.dot" in names["gfx942"]
    assert "tile.dot" in names["interpret"]


@pytest.mark.parametrize(
    ("name", "types", "attributes", "words"),
    [
        (
            "atomic.cas",
            {"pointer": "tile<3xptr<i32>>", "compare": "tile<3xi32>", "value": "tile<3xi32>"},
            {},
            "no mask",
        ),
        ("debug.print", {"values": ("tile<3xi32>",)}, {"prefix": "x"}, "padding would be printed"),
    ],
)
def test_what_would_not_be_exact_is_refused(name: str, types: Any, attributes: Any, words: str) -> None:
    from xdsl_core.opdef import Sample

    case = case_of(CORE[name], Sample(types, attributes))
    with pytest.raises(CompilationError, match=words) as caught:
        lowered(case.module, TARGETS["sm_90"])
    assert caught.value.code == "X0732"


def test_padding_keeps_nan_out_of_sums() -> None:
    """Rows of NaN stay NaN, and the padding of others adds nothing."""
    definition = CORE["tile.reduce_max"]
    from xdsl_core.opdef import Sample

    data = np.array([[np.nan, np.nan, np.nan], [1.0, np.nan, -2.0]], np.float32)
    case = case_of(definition, Sample({"source": "tile<2x3xf32>"}, {"axis": 1}, {"source": data}))
    got = case.fresh_arguments()
    run(lowered(case.module, TARGETS["sm_90"]), (1,), list(got.values()))
    assert np.isnan(got["result0"][0])
    assert got["result0"][1] == 1.0
