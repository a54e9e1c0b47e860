"""Errors of gpu_triton that no kernel should meet: each has a code and says what to do."""

from __future__ import annotations

import pytest

from tests.unit.gpu_triton.pipelines import TARGETS, source_of
from xdsl_core.backend import Artifact
from xdsl_core.diagnostics import CompilationError, ExecutionError
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of
from xdsl_core.runtime.pointers import numpy_pointer
from xdsl_gpu_triton.build import SOURCE
from xdsl_gpu_triton.execute import InterpretedKernel
from xdsl_gpu_triton.options import TritonOptions


def test_an_op_without_a_spelling_is_refused_by_name() -> None:
    definition = CORE["tile.tanh"]
    sample = next(s for s in definition.samples if s.types["operand"] == "f32")
    case = case_of(definition, sample)
    assert "libdevice.tanh(" in source_of(case.module, "sm_90").text
    with pytest.raises(CompilationError, match="cannot express") as caught:
        source_of(case.module, TARGETS["interpret"].name)
    assert caught.value.code == "X0731"


@pytest.mark.parametrize("element", ["u8", "i16"])
def test_updates_of_narrow_integers_are_refused(element: str) -> None:
    definition = CORE["atomic.rmw"]
    sample = next(s for s in definition.samples if str(s.types["value"]).endswith(element + ">"))
    with pytest.raises(CompilationError, match=f"not {element}") as caught:
        source_of(case_of(definition, sample).module, "interpret")
    assert caught.value.code == "X0732"


@pytest.mark.triton
def test_an_exception_of_the_interpreter_names_the_program() -> None:
    definition = CORE["tile.neg"]
    case = case_of(definition, next(s for s in definition.samples if s.types["operand"] == "f32"))
    source = source_of(case.module, "interpret")
    text = source.text.replace("tl.store(", "tl.no_such_function(")
    assert text != source.text
    kernel = InterpretedKernel(Artifact({SOURCE: text.encode()}, source.metadata))
    arguments = tuple(numpy_pointer(array, name) for name, array in case.fresh_arguments().items())
    with pytest.raises(ExecutionError, match="no_such_function") as caught:
        kernel.run((1, 1, 1), arguments, TritonOptions())
    assert caught.value.code == "X0735"
    assert "in program (0, 0, 0), line" in str(caught.value)
