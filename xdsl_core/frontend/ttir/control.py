"""Loops, branches, reductions and scans: ops with regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xdsl_core import ops
from xdsl_core.frontend.ttir.scope import Convert, Scope
from xdsl_core.frontend.ttir.syntax import Tree, TreeBlock
from xdsl_core.frontend.ttir.types import read_type
from xdsl_core.ir import Block, Op, Region, Type, Value
from xdsl_core.ir.types import ScalarType, dtype_of

_Values = Sequence[Value]
_ENDS = ("scf.yield", "tt.reduce.return", "tt.scan.return", "scf.condition", "tt.map_elementwise.return")


def convert_block(scope: Scope, block: TreeBlock) -> list[Value]:
    """The ops of a region's block in the scope; the values that its end gives to the op around it."""
    from xdsl_core.frontend.ttir.convert import convert_op

    for tree in block.ops:
        if tree.name in _ENDS:
            scope.builder.location = tree.location
            return scope.operands(tree)
        convert_op(scope, tree)
    return []


def _region(
    scope: Scope,
    blocks: Sequence[TreeBlock],
    types: Sequence[Type] = (),
    names: Sequence[str] = (),
    end: Any = ops.Yield,
) -> Region:
    """A region of one block, whose arguments have these types and names in the text."""
    block = Block(types, [name.lstrip("%") for name in names])
    inner = scope.inner(block)
    inner.values.update(zip(names, block.arguments, strict=True))
    values = convert_block(inner, blocks[0]) if blocks else []
    if end is ops.Condition:
        inner.builder.build(end, values[0], tuple(values[1:]))
    else:
        inner.builder.build(end, tuple(values))
    return Region([block])


def _if(scope: Scope, tree: Tree) -> _Values:
    (condition,) = scope.operands(tree)
    then = _region(scope, tree.regions[0])
    otherwise = _region(scope, tree.regions[1] if len(tree.regions) > 1 else ())
    return scope.builder.build(ops.If, condition, regions=(then, otherwise)).results


def _for(scope: Scope, tree: Tree) -> _Values:
    counter, *bounds = tree.operands[:4]
    carried, inits = tree.operands[4::2], [scope.values[name] for name in tree.operands[5::2]]
    limits = [scope.values[name] for name in bounds]
    signed = limits[0].type
    if "unsigned" in tree.words:
        limits = [scope.unsigned(limit) for limit in limits]
    kind = limits[0].type
    block = Block(
        [kind, *(value.type for value in inits)], [name.lstrip("%") for name in (counter, *carried)]
    )
    inner = scope.inner(block)
    inner.values.update(zip((counter, *carried), block.arguments, strict=True))
    inner.values[counter] = inner.signed(block.arguments[0], signed)
    inner.builder.build(ops.Yield, tuple(convert_block(inner, tree.regions[0][0])))
    stages = tree.attributes.get("tt.num_stages")
    loop = scope.builder.build(ops.For, *limits, tuple(inits), regions=(Region([block]),), num_stages=stages)
    return loop.results


def _while(scope: Scope, tree: Tree) -> _Values:
    names, inits = tree.operands[0::2], [scope.values[name] for name in tree.operands[1::2]]
    before = _region(scope, tree.regions[0], [value.type for value in inits], names, ops.Condition)
    (body,) = tree.regions[1]
    types = [read_type(argument.type) for argument in body.arguments]
    after = _region(scope, [body], types, [argument.name for argument in body.arguments])
    return scope.builder.build(ops.While, tuple(inits), regions=(before, after)).results


# reductions of one op have definitions of their own, which targets know best
_REDUCTIONS: Mapping[str, tuple[Any, bool]] = MappingProxyType(
    {
        "arith.addf": (ops.ReduceSum, False),
        "arith.addi": (ops.ReduceSum, False),
        "arith.mulf": (ops.ReduceProd, False),
        "arith.muli": (ops.ReduceProd, False),
        "arith.maxnumf": (ops.ReduceMax, False),
        "arith.minnumf": (ops.ReduceMin, False),
        "arith.maximumf": (ops.ReduceMax, True),
        "arith.minimumf": (ops.ReduceMin, True),
        "arith.maxsi": (ops.ReduceMax, False),
        "arith.minsi": (ops.ReduceMin, False),
        "arith.xori": (ops.ReduceXor, False),
        "arith.ori": (ops.ReduceOr, False),
        "arith.andi": (ops.ReduceAnd, False),
    }
)
_SCANS: Mapping[str, Any] = MappingProxyType(
    {"arith.addf": ops.CumSum, "arith.addi": ops.CumSum, "arith.mulf": ops.CumProd, "arith.muli": ops.CumProd}
)


def _combiner(tree: Tree, sources: Sequence[Value]) -> str:
    """The name of the one op that a combine region applies to its two arguments; "" if there is more."""
    (block,) = tree.regions[0]
    if len(sources) != 1 or len(block.ops) != 2 or dtype_of(sources[0].type).is_bool:
        return ""
    only, end = block.ops
    names = sorted(argument.name for argument in block.arguments)
    return only.name if sorted(only.operands) == names and end.operands == list(only.results) else ""


def _combine_region(scope: Scope, tree: Tree, sources: Sequence[Value]) -> Region:
    (block,) = tree.regions[0]
    scalars = [ScalarType(dtype_of(source.type)) for source in sources] * 2
    return _region(scope, [block], scalars, [argument.name for argument in block.arguments])


def _reduce(scope: Scope, tree: Tree) -> _Values:
    sources, axis = scope.operands(tree), tree.attributes["axis"]
    found = _REDUCTIONS.get(_combiner(tree, sources))
    if found is None:
        region = _combine_region(scope, tree, sources)
        reduced: Op = scope.builder.build(ops.Reduce, tuple(sources), regions=(region,), axis=axis)
        return reduced.results
    definition, propagate = found
    return [scope.value(definition, *sources, axis=axis, propagate_nan=propagate or None)]


def _scan(scope: Scope, tree: Tree) -> _Values:
    sources, axis = scope.operands(tree), tree.attributes["axis"]
    reverse = tree.attributes.get("reverse", False)
    found = _SCANS.get(_combiner(tree, sources))
    if found is None:
        region = _combine_region(scope, tree, sources)
        return scope.builder.build(
            ops.Scan, tuple(sources), regions=(region,), axis=axis, reverse=reverse
        ).results
    return [scope.value(found, *sources, axis=axis, reverse=reverse)]


CONVERTERS: Mapping[str, Convert] = MappingProxyType(
    {
        "scf.if": _if,
        "scf.for": _for,
        "scf.while": _while,
        "tt.reduce": _reduce,
        "tt.scan": _scan,
    }
)
