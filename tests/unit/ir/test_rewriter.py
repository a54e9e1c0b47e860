"""Rewrites keep the links right, and endless ones are stopped."""

from __future__ import annotations

import pytest

from tests.unit.ir.helpers import parse
from xdsl_core.diagnostics import CompilationError
from xdsl_core.ir import Builder, Function, Module, Op, Rewriter, apply_patterns, print_module, verify
from xdsl_core.ops import Add, Mul, Neg, Sub

TEXT = """\
module {
  func @f(%x: i32, %y: i32, %p: ptr<i32>, %c: i1) {
    %a = tile.add %x, %y : i32
    %b = tile.neg %a : i32
    %r = control.if %c : i32 then {
      %d = tile.mul %b, %y : i32
      control.yield [%d]
    } otherwise {
      control.yield [%b]
    }
    memory.store %p, %r
    control.return
  }
}
"""


@pytest.fixture
def module() -> Module:
    return parse(TEXT)


@pytest.fixture
def function(module: Module) -> Function:
    return module.functions["f"]


def find(function: Function, name: str) -> Op:
    return next(op for op in function.walk() if op.name == name)


def sound(module: Module) -> str:
    assert verify(module) == []
    return print_module(module)


def test_replace_by_a_value(module: Module, function: Function) -> None:
    Rewriter().replace_op(find(function, "tile.neg"), function.parameters[0])
    assert "tile.mul %x, %y" in sound(module)
    assert "tile.neg" not in sound(module)


def test_replace_by_an_op(module: Module, function: Function) -> None:
    rewriter, op = Rewriter(), find(function, "tile.neg")
    rewriter.replace_op(op, rewriter.before(op).build(Sub, *function.parameters[:2]))
    assert "%b = tile.sub %x, %y : i32" in sound(module)


def test_replacement_must_fit(function: Function) -> None:
    with pytest.raises(ValueError, match="type"):
        Rewriter().replace_op(find(function, "tile.neg"), function.parameters[2])
    with pytest.raises(ValueError, match="2 values"):
        Rewriter().replace_op(find(function, "tile.neg"), function.parameters[:2])


def test_used_op_is_not_erased(function: Function) -> None:
    with pytest.raises(ValueError, match="users"):
        Rewriter().erase(find(function, "tile.neg"))


def test_erase_forgets_uses_in_regions(module: Module, function: Function) -> None:
    branch = find(function, "control.if")
    Rewriter().replace_op(branch, function.parameters[0])
    assert "control.if" not in sound(module)
    assert find(function, "tile.neg").result.uses == {}


def test_inline_block(module: Module, function: Function) -> None:
    rewriter, branch = Rewriter(), find(function, "control.if")
    values = rewriter.inline_block(branch.regions[0].block, branch, ())
    rewriter.replace_op(branch, values)
    assert sound(module) == sound(
        parse(
            "module { func @f(%x: i32, %y: i32, %p: ptr<i32>, %c: i1) { %a = tile.add %x, %y : i32"
            " %b = tile.neg %a : i32 %d = tile.mul %b, %y : i32 memory.store %p, %d control.return } }"
        )
    )


def test_insert_and_move(module: Module, function: Function) -> None:
    rewriter, op = Rewriter(), find(function, "tile.neg")
    first = Builder(function.block).build(Neg, function.parameters[0])
    function.block.ops.remove(first)
    rewriter.insert_after(op, first)
    second = Builder(function.block).build(Neg, function.parameters[1])
    function.block.ops.remove(second)
    rewriter.insert_before(function.block.ops[0], second)
    rewriter.move_before(first, second)
    sound(module)
    assert function.block.ops[:2] == [first, second]


def to_multiplication(op: Op, rewriter: Rewriter) -> bool:
    if op.name != "tile.add":
        return False
    rewriter.replace_op(op, rewriter.before(op).build(Mul, *op.operands))
    return True


def drop_negation(op: Op, rewriter: Rewriter) -> bool:
    if op.name != "tile.neg":
        return False
    rewriter.replace_op(op, op.operands[0])
    return True


def test_patterns_reach_a_fixed_point(module: Module, function: Function) -> None:
    assert apply_patterns(function, [to_multiplication, drop_negation]) == 2
    text = sound(module)
    assert "tile.neg" not in text
    assert "tile.add" not in text
    assert apply_patterns(function, [to_multiplication, drop_negation]) == 0


def test_patterns_by_name(function: Function) -> None:
    seen: list[str] = []

    def watch(op: Op, rewriter: Rewriter) -> bool:
        seen.append(op.name)
        return False

    apply_patterns(function, {"tile.neg": [drop_negation], "tile.add": [watch]})
    assert set(seen) == {"tile.add"}
    seen.clear()
    apply_patterns(function, {"tile.add": [drop_negation], "": [watch]})
    assert seen == [op.name for op in function.walk()]


def test_new_ops_are_tried(function: Function) -> None:
    def unroll(op: Op, rewriter: Rewriter) -> bool:
        """x * y is x + y, a chain of rewrites through ops that the patterns themselves make."""
        if op.name != "tile.mul":
            return False
        rewriter.replace_op(op, rewriter.before(op).build(Add, *op.operands))
        return True

    def settle(op: Op, rewriter: Rewriter) -> bool:
        if op.name != "tile.add":
            return False
        rewriter.replace_op(op, rewriter.before(op).build(Sub, *op.operands))
        return True

    assert apply_patterns(function, [unroll, settle]) == 3
    assert {op.name for op in function.walk()}.isdisjoint({"tile.mul", "tile.add"})


def test_ops_of_an_erased_region_are_not_tried(function: Function) -> None:
    seen: list[str] = []

    def erase_branch(op: Op, rewriter: Rewriter) -> bool:
        seen.append(op.name)
        if op.name != "control.if":
            return False
        rewriter.replace_op(op, function.parameters[0])
        return True

    apply_patterns(function, [erase_branch])
    assert "tile.mul" not in seen


def test_endless_rewriting_is_an_error(function: Function) -> None:
    def swap(op: Op, rewriter: Rewriter) -> bool:
        if op.name != "tile.add":
            return False
        first, second = op.operands
        rewriter.set_operand(op, 0, second)
        rewriter.set_operand(op, 1, first)
        return True

    with pytest.raises(CompilationError) as caught:
        apply_patterns(function, [swap], limit=50)
    assert caught.value.code == "X0341"
    assert "swap on tile.add" in str(caught.value)


def test_groups_and_positions(module: Module, function: Function) -> None:
    store = find(function, "memory.store")
    Rewriter().set_group(store, "mask", [function.parameters[3]])
    assert "memory.store %p, %r, mask = %c" in sound(module)
    Rewriter().set_group(store, "mask", [])
    assert store.segments == (1, 1, 0)
    assert not function.parameters[3].uses.get((id(store), 2))
    with pytest.raises(ValueError, match="users"):
        find(function, "control.if").keep_results([])
