"""Ops that touch memory or the grid, move elements, multiply, print and assert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.frontend.ttir.scope import Convert, Scope, unsupported
from xdsl_core.frontend.ttir.syntax import Tree
from xdsl_core.ir import Value
from xdsl_core.ir.types import dtype_of, is_pointer

_Values = Sequence[Value]
_CACHES = {"ca": ".ca", "cg": ".cg", "cv": ".cv", "cs": ".cs", "wb": ".wb", "wt": ".wt"}
_EVICTIONS = ("evict_first", "evict_last")


def _hints(tree: Tree) -> dict[str, Any]:
    cache = next((_CACHES[word] for word in tree.words if word in _CACHES), None)
    eviction = next((word for word in tree.words if word in _EVICTIONS), None)
    return {"cache": cache, "eviction": eviction}


def _load(scope: Scope, tree: Tree) -> _Values:
    operands = scope.operands(tree)
    volatile = tree.attributes.get("isVolatile") or None
    loaded = scope.value(ops.Load, *operands, volatile=volatile, **_hints(tree))
    if "!tt.ptr<!tt.ptr<" not in "".join(tree.types):
        return [loaded]
    text = tree.types[0].partition("!tt.ptr<!tt.ptr<")[2].partition(">")[0]
    from xdsl_core.frontend.ttir.types import ELEMENTS

    return [scope.value(ops.IntToPointer, loaded, pointee=ELEMENTS[text])]


def _store(scope: Scope, tree: Tree) -> _Values:
    pointer, value, *mask = scope.operands(tree)
    if is_pointer(value.type):
        value = scope.value(ops.PointerToInt, value)
    scope.builder.build(ops.Store, pointer, value, *mask, **_hints(tree))
    return []


def _offset(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.Offset, *scope.operands(tree))]


# RMW kinds of Triton; the unsigned ones read their operand without a sign
_KINDS = {
    **{kind: kind for kind in ("and", "or", "xor", "add", "max", "min")},
    "fadd": "add",
    "exch": "xchg",
    "umax": "max",
    "umin": "min",
}


def _orders(tree: Tree) -> dict[str, str]:
    sem = next(word for word in tree.words if word in ("relaxed", "acquire", "release", "acq_rel"))
    scope = {"gpu": "gpu", "cta": "cta", "sys": "sys"}
    return {"sem": sem, "scope": next(scope[word] for word in tree.words if word in scope)}


def _atomic(scope: Scope, tree: Tree) -> _Values:
    pointer, value, *mask = scope.operands(tree)
    kind = tree.words[0]
    kept = value.type
    if kind[0] == "u":
        value = scope.unsigned(value)
        pointer = scope.value(ops.PointerCast, pointer, pointee=dtype_of(value.type))
    old = scope.value(ops.AtomicRmw, pointer, value, *mask, kind=_KINDS[kind], **_orders(tree))
    return [scope.signed(old, kept)]


def _compare_and_swap(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.AtomicCas, *scope.operands(tree), **_orders(tree))]


_AXES = {"x": 0, "y": 1, "z": 2}


def _program_id(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.ProgramId, axis=_AXES[tree.words[0]])]


def _num_programs(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.NumPrograms, axis=_AXES[tree.words[0]])]


def _range(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.Arange, start=tree.attributes["start"], end=tree.attributes["end"])]


def _splat(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.Splat, *scope.operands(tree), shape=scope.result_type(tree).shape)]


def _unsplat(scope: Scope, tree: Tree) -> _Values:
    (source,) = scope.operands(tree)
    flat = scope.value(ops.Reshape, source, shape=(1,))
    return [scope.builder.build(ops.ReduceSum, flat, axis=0).result]


def _shaped(definition: object) -> Convert:
    def convert(scope: Scope, tree: Tree) -> _Values:
        return [scope.value(definition, *scope.operands(tree), shape=scope.result_type(tree).shape)]

    return convert


def _is_first(scope: Scope, extents: tuple[int, ...]) -> Value:
    """Whether a lane of a tile with these extents, the last of them 2, is the first of its pair."""
    places = scope.value(ops.Arange, start=0, end=2)
    first = scope.value(ops.Eq, places, scope.constant(places.type, 0))
    flat = scope.value(ops.Reshape, first, shape=(*(1 for _ in extents[1:]), 2))
    return scope.value(ops.Broadcast, flat, shape=extents)


def _join(scope: Scope, tree: Tree) -> _Values:
    """Two tiles as pairs along a new last axis."""
    extents = scope.result_type(tree).shape
    pairs = []
    for operand in scope.operands(tree):
        tile = operand if operand.type.shape else scope.value(ops.Splat, operand, shape=(1,))
        shaped = scope.value(ops.Reshape, tile, shape=(*extents[:-1], 1))
        pairs.append(scope.value(ops.Broadcast, shaped, shape=extents))
    return [scope.value(ops.Select, _is_first(scope, extents), *pairs)]


def _split(scope: Scope, tree: Tree) -> _Values:
    """The first and the second of each pair: the others' bits are zero, and all are or-ed."""
    (source,) = scope.operands(tree)
    dtype = dtype_of(source.type)
    bits = (
        source if dtype.is_integer else scope.value(ops.BitCast, source, to=dtypes.BY_NAME[f"i{dtype.bits}"])
    )
    first, zero = _is_first(scope, source.type.shape), scope.zero(bits.type)
    halves = [
        scope.value(ops.Select, first, *((bits, zero) if half == 0 else (zero, bits))) for half in (0, 1)
    ]
    axis = len(source.type.shape) - 1
    found = [scope.value(ops.ReduceOr, half, axis=axis) for half in halves]
    return [each if dtype.is_integer else scope.value(ops.BitCast, each, to=dtype) for each in found]


def _expand(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.ExpandDims, *scope.operands(tree), axis=tree.attributes["axis"])]


def _transpose(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.Permute, *scope.operands(tree), order=tree.attributes["order"])]


# how f32 factors may be rounded: the ways through bf16 parts are less exact than tf32x3, so that is allowed
_PRECISIONS = {"tf32": "tf32", "tf32x3": "tf32x3", "bf16x3": "tf32x3", "bf16x6": "tf32x3"}


def _dot(scope: Scope, tree: Tree) -> _Values:
    lhs, rhs, accumulator = scope.operands(tree)
    kind = dtype_of(accumulator.type)
    wide = dtypes.f32 if kind in (dtypes.f16, dtypes.bf16) else kind
    precision = next((_PRECISIONS[word] for word in tree.words if word in _PRECISIONS), None)
    product = scope.value(ops.Dot, lhs, rhs, scope.cast(accumulator, wide), precision=precision)
    return [scope.cast(product, kind)]


def _print(scope: Scope, tree: Tree) -> _Values:
    scope.builder.build(
        ops.Print, scope.operands(tree), prefix=tree.strings[0].strip(), hex=tree.attributes["hex"]
    )
    return []


def _assert(scope: Scope, tree: Tree) -> _Values:
    condition, *mask = scope.operands(tree)
    message = tree.strings[0] if tree.strings else ""
    scope.builder.build(ops.Assert, condition, *mask, message=message)
    return []


def _nothing(scope: Scope, tree: Tree) -> _Values:
    """A hint or an order between accesses that programs here keep anyway."""
    return []


def _poison(scope: Scope, tree: Tree) -> _Values:
    return [scope.zero(scope.result_type(tree))]


def _inline_assembly(scope: Scope, tree: Tree) -> _Values:
    raise unsupported(tree, "assembly of one chip cannot run on others", help="write it with tl's ops")


CONVERTERS: Mapping[str, Convert] = MappingProxyType(
    {
        "tt.load": _load,
        "tt.store": _store,
        "tt.addptr": _offset,
        "tt.atomic_rmw": _atomic,
        "tt.atomic_cas": _compare_and_swap,
        "tt.get_program_id": _program_id,
        "tt.get_num_programs": _num_programs,
        "tt.make_range": _range,
        "tt.splat": _splat,
        "tt.unsplat": _unsplat,
        "tt.broadcast": _shaped(ops.Broadcast),
        "tt.reshape": _shaped(ops.Reshape),
        "tt.join": _join,
        "tt.split": _split,
        "tt.expand_dims": _expand,
        "tt.trans": _transpose,
        "tt.dot": _dot,
        "tt.print": _print,
        "tt.assert": _assert,
        "cf.assert": _assert,
        "ub.poison": _poison,
        "llvm.intr.assume": _nothing,
        "gpu.barrier": _nothing,
        "ttg.barrier": _nothing,
        "tt.grid_dependency_wait": _nothing,
        "tt.grid_dependency_launch_dependents": _nothing,
        "tt.elementwise_inline_asm": _inline_assembly,
    }
)
