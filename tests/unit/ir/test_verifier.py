"""The verifier accepts what is sound and names everything that is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.ir.helpers import DEFINITIONS, parse, sample_module
from tests.unit.ir.test_text import READABLE
from xdsl_core import dtypes
from xdsl_core.diagnostics import catalogue
from xdsl_core.ir import Block, Builder, Function, Module, Op, Region, ScalarType, Value, verify
from xdsl_core.opdef import OpDef
from xdsl_core.ops import Add, Constant, If, Neg, Return, Yield

I32 = ScalarType(dtypes.i32)


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=DEFINITIONS)
def test_samples_are_valid(definition: OpDef) -> None:
    for sample in definition.samples:
        assert verify(sample_module(definition, sample)) == []


def test_whole_kernel_is_valid() -> None:
    assert verify(parse(READABLE)) == []


def ops_named(module: Module, name: str) -> list[Op]:
    return [op for op in module.walk() if op.name == name]


def no_terminator(module: Module) -> None:
    ops_named(module, "control.return")[0].erase()


def terminator_in_the_middle(module: Module) -> None:
    block = module.functions["add"].block
    Builder(block, before=block.ops[0]).build(Return)


def empty_block(module: Module) -> None:
    block = ops_named(module, "control.if")[0].regions[0].block
    block.ops[0].erase()


def used_too_early(module: Module) -> None:
    block = module.functions["add"].block
    block.ops.insert(0, block.ops.pop(3))


def inner_value_outside(module: Module) -> None:
    store = ops_named(module, "memory.store")[0]
    store.set_operand(1, ops_named(module, "memory.load")[0].result)


def value_of_another_function(module: Module) -> None:
    other = module.add(Function("other", [("y", I32)]))
    Builder(other.block).build(Return)
    splat = ops_named(module, "tile.splat")[1]
    splat.set_operand(0, other.parameters[0])


def use_not_recorded(module: Module) -> None:
    module.functions["add"].parameters[0].uses.clear()


def use_recorded_twice(module: Module) -> None:
    splat = ops_named(module, "tile.splat")[0]
    module.functions["add"].parameters[1].uses[id(splat), 0] = splat


def use_by_an_op_that_is_gone(module: Module) -> None:
    block = module.functions["add"].block
    op = Builder(block, before=block.ops[-1]).build(Neg, module.functions["add"].parameters[1])
    block.ops.remove(op)


def op_in_two_places(module: Module) -> None:
    block = module.functions["add"].block
    block.ops.insert(1, block.ops[0])


def wrong_block(module: Module) -> None:
    module.functions["add"].block.ops[0].block = Block()


def wrong_owner(module: Module) -> None:
    constant = module.functions["add"].block.ops[0]
    constant.results[0].index = 3


def wrong_parent(module: Module) -> None:
    loop = ops_named(module, "control.for")[0]
    loop.regions[0].parent = ops_named(module, "control.if")[0]


def wrong_name(module: Module) -> None:
    module.functions["sum"] = module.functions.pop("add")


def missing_region(module: Module) -> None:
    branch = ops_named(module, "control.if")[0]
    branch.regions = branch.regions[:1]


def two_blocks(module: Module) -> None:
    block = ops_named(module, "control.if")[0].regions[0].add_block(Block())
    Builder(block).build(Yield)


def missing_result(module: Module) -> None:
    block = module.functions["add"].block
    op = Builder(block, before=block.ops[-1]).build(Neg, module.functions["add"].parameters[1])
    op.results = ()


def wrong_segments(module: Module) -> None:
    ops_named(module, "memory.store")[0].segments = (1, 1, 0)


def missing_parameter_attributes(module: Module) -> None:
    module.functions["add"].parameter_attributes.pop()


def wrong_result_type(module: Module) -> None:
    value = ops_named(module, "tile.lt")[0].result
    value.type = I32


def wrong_yield(module: Module) -> None:
    terminator = ops_named(module, "control.for")[0].regions[0].block.terminator
    assert terminator is not None
    terminator.set_group("values", terminator.operands[:1])


def wrong_attribute(module: Module) -> None:
    ops_named(module, "tile.arange")[0].attributes["end"] = "eight"


def rule_that_fails(module: Module) -> None:
    ops_named(module, "tile.splat")[0].attributes["shape"] = (None,)


DAMAGES: list[tuple[Callable[[Module], None], str]] = [
    (no_terminator, "X0320"),
    (terminator_in_the_middle, "X0320"),
    (empty_block, "X0320"),
    (used_too_early, "X0321"),
    (inner_value_outside, "X0321"),
    (value_of_another_function, "X0321"),
    (use_not_recorded, "X0322"),
    (use_recorded_twice, "X0322"),
    (use_by_an_op_that_is_gone, "X0322"),
    (op_in_two_places, "X0322"),
    (wrong_block, "X0322"),
    (wrong_owner, "X0322"),
    (wrong_parent, "X0322"),
    (wrong_name, "X0322"),
    (missing_region, "X0323"),
    (two_blocks, "X0323"),
    (missing_result, "X0323"),
    (wrong_segments, "X0323"),
    (missing_parameter_attributes, "X0323"),
    (wrong_result_type, "X0204"),
    (wrong_yield, "X0221"),
    (wrong_attribute, "X0203"),
    (rule_that_fails, "X0324"),
]


@pytest.mark.parametrize(("damage", "code"), DAMAGES, ids=[damage.__name__ for damage, _ in DAMAGES])
def test_damage_is_found(damage: Callable[[Module], None], code: str) -> None:
    module = parse(READABLE)
    damage(module)
    found = verify(module)
    assert code in {diagnostic.code for diagnostic in found}
    assert {diagnostic.code for diagnostic in found} <= set(catalogue())


def test_all_mistakes_are_reported_with_their_places() -> None:
    module = parse(READABLE)
    wrong_result_type(module)
    no_terminator(module)
    found = verify(module)
    assert {diagnostic.code for diagnostic in found} >= {"X0204", "X0320"}
    line = READABLE.split("\n").index(next(line for line in READABLE.split("\n") if "tile.lt" in line)) + 1
    assert next(diagnostic for diagnostic in found if diagnostic.code == "X0204").location.line == line


def test_use_before_definition_names_the_definition() -> None:
    module = parse(READABLE)
    used_too_early(module)
    shown = next(diagnostic for diagnostic in verify(module) if diagnostic.code == "X0321")
    assert any("tile.splat" in note.text or "tile.arange" in note.text for note in shown.notes)


def test_shared_region_values_do_not_leak_between_branches() -> None:
    function = Function("f", [("c", ScalarType(dtypes.i1))])
    branches, inner = [], []
    for number in range(2):
        block = Block()
        builder = Builder(block)
        inner.append(builder.value(Constant, value=number, type=I32))
        builder.build(Yield, [builder.value(Add, inner[0], inner[0])])
        branches.append(Region([block]))
    builder = Builder(function.block)
    builder.create(If, [function.parameters], {}, branches, result_types=[I32])
    builder.build(Return)
    module = Module()
    module.add(function)
    assert [diagnostic.code for diagnostic in verify(module)] == ["X0321", "X0321"]


def test_value_repr_helps() -> None:
    value = Value(I32, Block(), 0, "x")
    assert repr(value) == "<Value %x: i32>"
