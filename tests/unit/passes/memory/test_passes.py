"""The passes from tiles to memories, on a target that stands here as text: no backend is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xdsl_core.diagnostics import BackendError, CompilationError
from xdsl_core.ir import Module, Op, parse_module, verify
from xdsl_core.ops import CORE, For
from xdsl_core.ops.buffer import Allocate, Copy, Multiply
from xdsl_core.ops.task import SetCross, SetFlag, WaitCross, WaitFlag
from xdsl_core.passes import Pipeline
from xdsl_core.passes.canonical_pipeline import canonical_pipeline
from xdsl_core.passes.memory.bufferize import Bufferize
from xdsl_core.passes.memory.coalesce_buffers import CoalesceBuffers
from xdsl_core.passes.memory.fold_grid import FoldGrid
from xdsl_core.passes.memory.insert_flags import InsertFlags, find_syncs
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.multi_buffer import MultiBuffer
from xdsl_core.passes.memory.plan_memory import PlanMemory
from xdsl_core.passes.memory.separate_accumulators import SeparateAccumulators
from xdsl_core.passes.memory.split_cores import SplitCores
from xdsl_core.passes.pass_manager import run_pipeline
from xdsl_core.target import TargetDescription, parse_target

# Two kinds of cores that meet in global memory only.
TARGET = """
name = "pair"
source = "made up for this test"
cores = 2
clock_hz = 1e9

[limits]
event_flags = 8
cross_flags = 8

[[core_kinds]]
name = "MC"
count = 2
engines = ["S", "IN", "FEED", "M", "OUT"]

[[core_kinds]]
name = "VC"
count = 2
engines = ["S", "IN", "V", "OUT"]

[[memory_spaces]]
name = "GM"
portable = "GLOBAL"
capacity = "1 GiB"
owner = "device"
"""
SPACES = (
    ("L1", "SHARED", "MC", 32),
    ("LA", "LEFT", "MC", 512),
    ("LB", "RIGHT", "MC", 512),
    ("LC", "ACC", "MC", 64),
)
PATHS = (
    ("GM", "L1", "IN", "MC"),
    ("L1", "LA", "FEED", "MC"),
    ("L1", "LB", "FEED", "MC"),
    ("LC", "GM", "OUT", "MC"),
)
LOCAL = ((("UB", "VECTOR", "VC", 32),), (("GM", "UB", "IN", "VC"), ("UB", "GM", "OUT", "VC")))
UNITS = """
[[compute_units]]
name = "cube"
kind = "matrix"
core = "MC"
engine = "M"
operands = { lhs = "LA", rhs = "LB", accumulator = "LC" }
layouts = { lhs = "Zz", rhs = "Zn", accumulator = "Nz" }
[[compute_units.fractals]]
dtype = "f16"
m = 16
n = 16
k = 16

[[compute_units]]
name = "vector"
kind = "vector"
core = "VC"
engine = "V"
bytes_per_cycle = 256
operands = { local = "UB" }

[[compute_units]]
name = "scalar"
kind = "scalar"
engine = "S"
"""


def target(**changes: object) -> TargetDescription:
    """The target of these tests, with fields changed."""
    text = TARGET
    for name, portable, core, alignment in (*SPACES, *LOCAL[0]):
        text += f'[[memory_spaces]]\nname = "{name}"\nportable = "{portable}"\ncore = "{core}"\n'
        text += f'capacity = "64 KiB"\nalignment = {alignment}\n'
    for source, destination, engine, core in (*PATHS, *LOCAL[1]):
        text += f'[[data_paths]]\nfrom = "{source}"\nto = "{destination}"\nengine = "{engine}"\n'
        text += f'core = "{core}"\nbytes_per_cycle = 32\n'
    return replace(parse_target(text + UNITS, backend="test"), **changes)  # type: ignore[arg-type]


def pipeline(machine: TargetDescription, *, stages: int = 1) -> Pipeline:
    """All passes, as a backend puts them together."""
    tiles = canonical_pipeline().append(FoldGrid(), SeparateAccumulators(), Bufferize(machine))
    return (tiles + canonical_pipeline()).append(
        CoalesceBuffers(machine), MultiBuffer(machine, stages), PlanMemory(machine), InsertFlags(machine)
    )


def vector_kernel(lanes: int) -> Module:
    """out = exp(x), one tile a program."""
    return parse_module(
        f"""
module {{
  func @f(%x: ptr<f32>, %out: ptr<f32>) {{
    %i = tile.arange {{start = 0, end = {lanes}}} : tile<{lanes}xi32>
    %p = tile.splat %x {{shape = [{lanes}]}} : tile<{lanes}xptr<f32>>
    %a = tile.offset %p, %i : tile<{lanes}xptr<f32>>
    %v = memory.load %a : tile<{lanes}xf32>
    %e = tile.exp %v : tile<{lanes}xf32>
    %q = tile.splat %out {{shape = [{lanes}]}} : tile<{lanes}xptr<f32>>
    %b = tile.offset %q, %i : tile<{lanes}xptr<f32>>
    memory.store %b, %e
    control.return
  }}
}}
""",
        CORE,
    )


def ops_of(module: Module, *kinds: object) -> list[Op]:
    return [op for op in module.walk() if op.definition in kinds]


def lowered(module: Module, machine: TargetDescription, *, stages: int = 1) -> Module:
    found = run_pipeline(module, pipeline(machine, stages=stages)).module
    assert not verify(found)
    return found


def test_the_grid_becomes_a_loop() -> None:
    module = vector_kernel(64)
    FoldGrid().run(module)
    assert not verify(module)
    assert len(ops_of(module, For)) == 1


def test_engines_take_turns_by_flags() -> None:
    module = lowered(vector_kernel(64), target())
    pairs = {(op.attributes["source"], op.attributes["target"]) for op in ops_of(module, SetFlag)}
    assert pairs == {("IN", "V"), ("V", "OUT"), ("V", "IN"), ("OUT", "V")}
    assert len(ops_of(module, SetFlag)) == len(ops_of(module, WaitFlag))


def test_stages_give_buffers_parts_and_flags_slots() -> None:
    module = lowered(vector_kernel(64), target(), stages=2)
    assert {op.attribute("copies") for op in ops_of(module, Allocate)} == {2}
    inside = [op for op in ops_of(module, SetFlag) if op.parent_op is not None]
    assert inside
    assert all(op.optional("slot") is not None for op in inside)


def test_stages_give_way_to_capacity() -> None:
    # x and exp(x) take 32 KiB each: one of each fits, two do not
    module = lowered(vector_kernel(8192), target(), stages=2)
    assert {op.attribute("copies") for op in ops_of(module, Allocate)} == {1}


def test_buffers_do_not_overlap() -> None:
    module = lowered(vector_kernel(100), target(), stages=2)
    spans = sorted((op.attributes["offset"], op.attributes["copies"]) for op in ops_of(module, Allocate))
    # 400 bytes a part, rounded up to the alignment
    assert spans == [(0, 2), (832, 2)]


def test_what_does_not_fit_is_listed() -> None:
    with pytest.raises(CompilationError) as refused:
        lowered(vector_kernel(65536), target())
    (problem,) = refused.value.diagnostics
    assert problem.code == "X0710"
    assert "262144 bytes" in str(refused.value)
    assert "65536 are there" in problem.message
    assert "instead of 65536" in str(refused.value)


def test_a_missing_flag_is_a_missing_order() -> None:
    machine = target()
    module = run_pipeline(vector_kernel(64), pipeline(machine).until("plan_memory")).module
    (function,) = module.functions.values()
    found = {(s.source.name, s.target.name, s.distance) for s in find_syncs(function, Machine(machine))}
    assert found == {("IN", "V", 0), ("V", "OUT", 0), ("V", "IN", 1), ("OUT", "V", 1)}


DOT = """
module {
  func @f(%x: ptr<f16>, %y: ptr<f16>, %out: ptr<f32>) {
    %i = tile.arange {start = 0, end = 16} : tile<16xi32>
    %r = tile.expand_dims %i {axis = 1} : tile<16x1xi32>
    %rows = tile.broadcast %r {shape = [16, 16]} : tile<16x16xi32>
    %k = tile.constant {value = 16, type = tile<16x16xi32>} : tile<16x16xi32>
    %s = tile.mul %rows, %k : tile<16x16xi32>
    %c = tile.expand_dims %i {axis = 0} : tile<1x16xi32>
    %columns = tile.broadcast %c {shape = [16, 16]} : tile<16x16xi32>
    %at = tile.add %s, %columns : tile<16x16xi32>
    %px = tile.splat %x {shape = [16, 16]} : tile<16x16xptr<f16>>
    %ax = tile.offset %px, %at : tile<16x16xptr<f16>>
    %a = memory.load %ax : tile<16x16xf16>
    %py = tile.splat %y {shape = [16, 16]} : tile<16x16xptr<f16>>
    %ay = tile.offset %py, %at : tile<16x16xptr<f16>>
    %b = memory.load %ay : tile<16x16xf16>
    %zero = tile.constant {value = 0.0, type = tile<16x16xf32>} : tile<16x16xf32>
    %d = tile.dot %a, %b, %zero : tile<16x16xf32>
    %e = RESULT : tile<16x16xf32>
    %po = tile.splat %out {shape = [16, 16]} : tile<16x16xptr<f32>>
    %ao = tile.offset %po, %at : tile<16x16xptr<f32>>
    memory.store %ao, %e
    control.return
  }
}
"""


def dot_kernel(result: str) -> Module:
    text = DOT.replace(
        "%e = RESULT : tile<16x16xf32>\n", f"%e = {result} : tile<16x16xf32>\n" if result else ""
    )
    return parse_module(text if result else text.replace("%ao, %e", "%ao, %d"), CORE)


def test_factors_go_along_the_paths_and_the_sum_leaves_directly() -> None:
    module = lowered(dot_kernel(""), target())
    ways = [
        (op.operand("source").type.space, op.operand("destination").type.space) for op in ops_of(module, Copy)
    ]
    assert sorted(ways) == [("GM", "L1"), ("GM", "L1"), ("L1", "LA"), ("L1", "LB"), ("LC", "GM")]
    assert len(ops_of(module, Multiply)) == 1
    assert not ops_of(module, SetCross)


def test_cores_meet_in_global_memory() -> None:
    machine = target()
    module = lowered(dot_kernel("tile.exp %d"), machine)
    assert len(ops_of(module, SetCross)) == len(ops_of(module, WaitCross)) > 0
    split = SplitCores(machine).run(module)
    assert not verify(split)
    kinds = {function.attributes["core"]: function for function in split.functions.values()}
    assert set(kinds) == {"MC", "VC"}
    for kind, function in kinds.items():
        assert {op.attributes.get("core", kind) for op in function.walk()} == {kind}


def test_without_flags_between_cores_they_meet_at_barriers() -> None:
    machine = target(limits={"event_flags": 8, "cross_flags": 0})
    module = lowered(dot_kernel("tile.exp %d"), machine)
    assert not ops_of(module, SetCross)
    barriers = [op for op in module.walk() if op.name == "task.barrier"]
    assert [op.attribute("group") for op in barriers] == [True] * len(barriers)
    assert barriers


def test_without_flags_barriers_keep_order() -> None:
    module = lowered(vector_kernel(64), target(limits={"event_flags": 0}))
    assert not ops_of(module, SetFlag)
    assert [op for op in module.walk() if op.name == "task.barrier"]


def test_a_target_needs_ways_and_a_vector_unit() -> None:
    whole = target()
    with pytest.raises(BackendError) as refused:
        Machine(replace(whole, data_paths=())).route("GM", "UB")
    assert refused.value.diagnostics[0].code == "X0712"
    with pytest.raises(BackendError, match="X0712"):
        _ = Machine(replace(whole, compute_units=())).vector


def test_loops_in_combine_functions_are_refused() -> None:
    text = """
module {
  func @f(%x: ptr<i32>, %out: ptr<i32>) {
    %i = tile.arange {start = 0, end = 8} : tile<8xi32>
    %p = tile.splat %x {shape = [8]} : tile<8xptr<i32>>
    %a = tile.offset %p, %i : tile<8xptr<i32>>
    %v = memory.load %a : tile<8xi32>
    %r = tile.reduce sources = [%v] {axis = 0} : i32 combine (%l: i32, %m: i32) {
      %one = tile.constant {value = 1, type = i32} : i32
      %s = control.for %one, %m, %one, inits = [%l] : i32 body (%n: i32, %t: i32) {
        %u = tile.add %t, %n : i32
        control.yield [%u]
      }
      control.yield [%s]
    }
    memory.store %out, %r
    control.return
  }
}
"""
    with pytest.raises(CompilationError) as refused:
        lowered(parse_module(text.replace("sources = [%v]", "[%v]"), CORE), target())
    assert refused.value.diagnostics[0].code == "X0711"
