"""The examples up to machine code of GPUs, on a machine without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples import flash_attention, fused_softmax, gelu, layer_norm, matmul, vector_add
from tests.unit.gpu_triton.pipelines import TARGETS, source_of
from xdsl_core.backend import Artifact, default_registry
from xdsl_core.cli.signature import parse_signature
from xdsl_core.diagnostics import BackendError, CompilationError
from xdsl_core.frontend.python.build import build_module
from xdsl_gpu_triton.build import build
from xdsl_gpu_triton.options import TritonOptions

pytestmark = pytest.mark.triton

# Small blocks: products of f32 without tf32 are written out, and take long to compile.
EXAMPLES = (
    (vector_add, "add_kernel", ""),
    (fused_softmax, "softmax_kernel", ""),
    (layer_norm, "layer_norm_kernel", ""),
    (gelu, "gelu_kernel", ""),
    (
        matmul,
        "matmul_kernel",
        "a: *f16, b: *f16, c: *f16, M: i32, N: i32, K: i32, stride_am: i32, stride_ak=1, stride_bk: i32, "
        "stride_bn=1, stride_cm: i32, stride_cn=1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP=8",
    ),
    (
        flash_attention,
        "attention_kernel",
        "q: *f16, k: *f16, v: *f16, out: *f16, scale: f32, n: i32, "
        "HEAD=32, BLOCK_M=32, BLOCK_N=32, CAUSAL=True",
    ),
)
LAST_STAGES = {"sm_90": ("ptx", "cubin"), "gfx942": ("amdgcn", "hsaco")}


def module_of(module: Any, name: str, signature: str) -> Any:
    return build_module(getattr(module, name), parse_signature(signature or module.SIGNATURES[name]))


@pytest.mark.parametrize("target", LAST_STAGES)
@pytest.mark.parametrize(("module", "name", "signature"), EXAMPLES, ids=[name for _, name, _ in EXAMPLES])
def test_example_compiles(module: Any, name: str, signature: str, target: str) -> None:
    source = source_of(module_of(module, name, signature), target)
    artifact = build(source, TARGETS[target], TritonOptions())
    text, binary = (artifact.read(f"kernel.{stage}") for stage in LAST_STAGES[target])
    assert name.encode() in text
    assert binary.startswith(b"\x7fELF")
    assert {"kernel.ttir", "kernel.ttgir"} <= set(artifact.files)


def test_options_reach_triton() -> None:
    source = source_of(module_of(vector_add, "add_kernel", ""))
    artifact = build(source, TARGETS["sm_90"], TritonOptions(num_warps=8, maxnreg=64))
    assert artifact.metadata["num_warps"] == 8
    assert b".maxnreg 64" in artifact.read("kernel.ptx")


def test_too_much_shared_memory_is_an_error() -> None:
    import dataclasses

    small = dataclasses.replace(TARGETS["sm_90"], limits={**TARGETS["sm_90"].limits, "max_shared_bytes": 8})
    with pytest.raises(CompilationError, match="needs 16 bytes of shared memory, sm_90 has 8") as caught:
        build(source_of(module_of(fused_softmax, "softmax_kernel", "")), small, TritonOptions())
    assert caught.value.code == "X0737"


def test_what_triton_refuses_is_an_error_with_its_message() -> None:
    import dataclasses

    source = source_of(module_of(vector_add, "add_kernel", ""))
    broken = dataclasses.replace(source, text=source.text.replace("tl.arange(0, 1024)", "tl.arange(0, 1000)"))
    with pytest.raises(CompilationError, match="Triton refused") as caught:
        build(broken, TARGETS["sm_90"], TritonOptions())
    assert caught.value.code == "X0733"
    assert "power of 2" in str(caught.value)
    assert caught.value.diagnostics[0].location.line == 23


def test_running_needs_the_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xdsl_gpu_triton import launch

    monkeypatch.setattr(launch, "device", lambda: None)
    with pytest.raises(BackendError, match="not run here") as caught:
        default_registry().get("gpu_triton").load(Artifact({}, {}), TARGETS["sm_90"])
    assert caught.value.code == "X0614"
