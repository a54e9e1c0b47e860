"""Ops on dtypes that Triton has no such operation for are computed in a wider dtype."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_core import dtypes
from xdsl_core.dtypes import BY_NAME, DType
from xdsl_core.ir import Builder, Module, Op, PointerType, Value, element_of
from xdsl_core.ops import Cast
from xdsl_gpu_triton.codegen.spellings import POINTER, SPELLINGS, element_key, find_spelling


@dataclass(frozen=True, slots=True)
class WidenElements:
    """Computes in f32 (integers: in 32 bits) what Triton has no operation for, and rounds the result.

    That is exact: the sum, product or quotient of two floats of at most 16 bits, rounded to f32 and then to
    their dtype, is what one rounding gives (Figueroa 1995), and so are functions within their budget.
    Integers wrap alike in any width.

    Before:
        %2 = tile.div %0, %1 : tile<64xf16>
    After:
        %3 = tile.cast %0 {to = dtype<f32>} : tile<64xf32>
        %4 = tile.cast %1 {to = dtype<f32>} : tile<64xf32>
        %5 = tile.div %3, %4 : tile<64xf32>
        %2 = tile.cast %5 {to = dtype<f16>} : tile<64xf16>
    """

    interpreted: bool
    name: str = "widen-elements"

    def run(self, module: Module) -> None:
        """Change the module in place."""
        for op in list(module.walk()):
            narrow = self._narrow(op)
            if narrow is not None:
                _widen(op, narrow, wider(narrow))

    def _narrow(self, op: Op) -> DType | None:
        if op.name not in SPELLINGS or not (op.operands or op.results):
            return None
        key = element_key(op)
        if key == POINTER or takes(op.name, key, interpreted=self.interpreted):
            return None
        narrow = BY_NAME[key]
        wide = wider(narrow)
        return narrow if takes(op.name, wide.name, interpreted=self.interpreted) else None


def takes(name: str, key: str, *, interpreted: bool) -> bool:
    """Whether Triton has an op for elements of this dtype."""
    return find_spelling(name, key, interpreted=interpreted) is not None


def wider(dtype: DType) -> DType:
    """The dtype that stands in for a narrow one."""
    if dtype.is_float:
        return dtypes.f32
    return dtypes.u32 if dtype.kind == "uint" else dtypes.i32


def _widen(op: Op, narrow: DType, wide: DType) -> None:
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    groups = [
        tuple(builder.value(Cast, v, to=wide) if _element(v) is narrow else v for v in group)
        for group in op.groups()
    ]
    new = builder.create(op.definition, groups, op.attributes, op.regions)
    for old, value in zip(op.results, new.results, strict=True):
        name, value.name = old.name, ""
        kept = builder.value(Cast, value, to=narrow) if _element(old) is not _element(value) else value
        kept.name = name
        old.replace_uses_with(kept)
    op.erase()


def _element(value: Value) -> DType | PointerType:
    return element_of(value.type)
