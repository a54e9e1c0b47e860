"""Which parameters a module reads and writes."""

from __future__ import annotations

from xdsl_core.dtypes import f32, i1, i32
from xdsl_core.ir import Block, Builder, Function, Module, PointerType, Region, ScalarType
from xdsl_core.ops import If, Load, Return, Store, Yield
from xdsl_core.runtime.effects import Effects, memory_effects, written_parameters

POINTER = PointerType(f32)


def function(*names: str) -> tuple[Module, Function, Builder]:
    module = Module()
    parameters = [(name, ScalarType(i1) if name == "c" else POINTER) for name in names]
    made = module.add(Function("k", parameters))
    return module, made, Builder(made.block)


def test_load_reads_and_store_writes() -> None:
    module, made, builder = function("x", "y", "unused")
    x, y, _ = made.parameters
    builder.build(Store, y, builder.value(Load, x))
    builder.build(Return)
    assert memory_effects(module) == Effects(frozenset({"x"}), frozenset({"y"}))


def test_pointer_chosen_by_a_branch_counts_for_both() -> None:
    module, made, builder = function("c", "x", "y", "z")
    c, x, y, z = made.parameters
    regions = []
    for pointer in (x, y):
        block = Block()
        Builder(block).build(Yield, (pointer,))
        regions.append(Region([block]))
    chosen = builder.build(If, c, regions=regions).results[0]
    builder.build(Store, chosen, builder.value(Load, z))
    builder.build(Return)
    assert written_parameters(module) == {"x", "y"}
    assert memory_effects(module).read == {"z"}


def test_attribute_of_an_analysis_is_taken() -> None:
    module, made, builder = function("x", "y")
    builder.build(Store, made.parameters[0], builder.value(Load, made.parameters[1]))
    builder.build(Return)
    made.attributes["written"] = ("y",)
    assert written_parameters(module) == {"y"}


def test_scalars_take_no_part() -> None:
    module = Module()
    made = module.add(Function("k", [("n", ScalarType(i32))]))
    Builder(made.block).build(Return)
    assert memory_effects(module) == Effects()
