"""The module of tile IR of a text of TTIR: its kernel, with the functions it calls put in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.frontend.ttir import access, control, elementwise, libdevice
from xdsl_core.frontend.ttir.locations import Locations
from xdsl_core.frontend.ttir.scope import Convert, Scope, unsupported
from xdsl_core.frontend.ttir.syntax import Tree, TreeBlock, TreeFunction, parse
from xdsl_core.frontend.ttir.types import UnknownType, read_type
from xdsl_core.ir import Block, Builder, Function, Module, Region, Value


def read_ttir(text: str, file: str = "<ttir>") -> Module:
    """The tile IR of the public function of a TTIR module, as Triton 3.6 and newer write it.

    Optimised or not, but with tensor descriptors rewritten to pointers. Locations are those of the text, so
    diagnostics show the kernel's own lines. CompilationError X0850 for text that is no TTIR, X0851 for ops
    without a counterpart, X0852 for control flow that is no structure.
    """
    functions = {one.name: one for one in parse(text, file, Locations(text).read)}
    kernels = [one for one in functions.values() if one.public]
    if len(kernels) != 1:
        message = f"{file} has {len(kernels)} public functions, one is expected"
        raise CompilationError(error("X0850", message, help="write one kernel a file"))
    module = Module()
    module.add(_function(kernels[0], functions))
    return module


def _function(kernel: TreeFunction, functions: Mapping[str, TreeFunction]) -> Function:
    try:
        parameters = [(one.name.lstrip("%"), read_type(one.type)) for one in kernel.arguments]
    except UnknownType as problem:
        what = f"a parameter of type {problem}"
        raise unsupported(Tree("tt.func", (), kernel.location), what) from None
    hints = [
        {"divisible_by": one.attributes["tt.divisibility"]} if "tt.divisibility" in one.attributes else {}
        for one in kernel.arguments
    ]
    function = Function(kernel.name, parameters, parameter_attributes=hints, location=kernel.location)
    scope = Scope(Builder(function.block, location=kernel.location), functions)
    scope.values.update(zip((one.name for one in kernel.arguments), function.parameters, strict=True))
    _blocks(scope, kernel.blocks)
    scope.builder.build(ops.Return)
    return function


def convert_op(scope: Scope, tree: Tree) -> None:
    """One op, and all in its regions; its results become visible in the scope."""
    convert = CONVERTERS.get(tree.name)
    if convert is None:
        raise unsupported(tree)
    scope.builder.location = tree.location
    results = convert(scope, tree)
    names = tree.results
    for name, value in zip(names, results, strict=True):
        scope.values[name] = value
        value.name = value.name or _readable(name)


def _readable(name: str) -> str:
    plain = name.lstrip("%").partition("#")[0]
    return "" if plain.isdigit() else plain


def _call(scope: Scope, tree: Tree) -> Sequence[Value]:
    """A call, replaced by the body of the function."""
    callee = scope.functions[tree.words[0][1:].strip('"')]
    inner = Scope(scope.builder, scope.functions)
    inner.values.update(zip((one.name for one in callee.arguments), scope.operands(tree), strict=True))
    return _blocks(inner, callee.blocks)


def _blocks(scope: Scope, blocks: Sequence[TreeBlock]) -> list[Value]:
    """The blocks of a function as structure; the values it returns."""
    return _from(scope, blocks[0], {block.label: block for block in blocks}, ())


def _from(
    scope: Scope, block: TreeBlock, blocks: Mapping[str, TreeBlock], seen: tuple[str, ...]
) -> list[Value]:
    """A block with all that follows it, up to the return.

    A branch becomes a `control.if` whose sides hold everything up to the return; what both sides lead to is
    there twice. X0852 for a block that leads back to itself.
    """
    for tree in block.ops:
        scope.builder.location = tree.location
        if tree.name == "tt.return":
            return scope.operands(tree)
        if tree.name == "cf.br":
            return _jump(scope, tree, 0, blocks, seen)
        if tree.name == "cf.cond_br":
            condition = scope.values[tree.operands[0]]
            regions = [_side(scope, tree, index, blocks, seen) for index in (0, 1)]
            return list(scope.builder.build(ops.If, condition, regions=regions).results)
        convert_op(scope, tree)
    return []


def _side(
    scope: Scope, tree: Tree, index: int, blocks: Mapping[str, TreeBlock], seen: tuple[str, ...]
) -> Region:
    block = Block()
    inner = scope.inner(block)
    inner.builder.build(ops.Yield, tuple(_jump(inner, tree, index, blocks, seen)))
    return Region([block])


def _jump(
    scope: Scope, tree: Tree, index: int, blocks: Mapping[str, TreeBlock], seen: tuple[str, ...]
) -> list[Value]:
    label, names = tree.labels[index]
    if label in seen:
        message = f"control flow leads back to {label}, which no loop of tile IR says"
        hint = "write the loop as a for or a while"
        raise CompilationError(error("X0852", message, location=tree.location, help=hint))
    target = blocks[label]
    given = [scope.values[name] for name in names]
    scope.values.update(zip((one.name for one in target.arguments), given, strict=True))
    return _from(scope, target, blocks, (*seen, label))


CONVERTERS: Mapping[str, Convert] = MappingProxyType(
    {
        **elementwise.CONVERTERS,
        **access.CONVERTERS,
        **control.CONVERTERS,
        **libdevice.CONVERTERS,
        "tt.call": _call,
    }
)
