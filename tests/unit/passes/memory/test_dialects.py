"""The dialects `buffer` and `task`: every definition is whole, and refuses its misuses."""

from __future__ import annotations

import pytest

from xdsl_core.diagnostics import CompilationError
from xdsl_core.opdef import OpDef
from xdsl_core.opdef.document import document_op
from xdsl_core.opdef.sampling import sample_operands, sample_regions
from xdsl_core.ops import CORE
from xdsl_core.ops.buffer import BUFFER
from xdsl_core.ops.task import TASK

every_op = pytest.mark.parametrize("definition", [*BUFFER, *TASK], ids=lambda definition: definition.name)


@every_op
def test_samples_keep_the_rules(definition: OpDef) -> None:
    for sample in definition.samples:
        groups, regions = sample_operands(definition, sample), sample_regions(definition, sample)
        assert not definition.problems(groups, sample.attributes, regions), sample


@every_op
def test_misuse_is_refused_by_the_named_constraint(definition: OpDef) -> None:
    for sample in definition.error_samples:
        with pytest.raises(CompilationError) as refused:
            definition.infer(sample_operands(definition, sample), sample.attributes, ())
        (diagnostic,) = refused.value.diagnostics
        rule = next(rule for rule in definition.constraints if rule.label == sample.constraint)
        assert diagnostic.code == rule.code


@every_op
def test_parts_are_documented(definition: OpDef) -> None:
    text = document_op(definition)
    assert all(name in text for name in (*definition.operands, *definition.attributes))


def test_kernels_cannot_contain_them() -> None:
    assert not {definition.name for definition in (*BUFFER, *TASK)} & set(CORE.names())
