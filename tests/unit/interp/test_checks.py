"""What only a checking run finds: undefined lanes that are used, and races between programs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.interp.kernels import COPY, COPY_PARAMETERS, kernel, refused
from xdsl_core.interp import run
from xdsl_core.ir import Module

# %v: lanes 0..2 of %x, lane 3 undefined; %xs, %outs: pointers to lanes; %zero
PARTIAL = """
    %lane = tile.arange {start = 0, end = 4} : tile<4xi32>
    %three = tile.constant {type = tile<4xi32>, value = 3} : tile<4xi32>
    %zero = tile.constant {type = tile<4xi32>, value = 0} : tile<4xi32>
    %some = tile.lt %lane, %three : tile<4xi1>
    %x4 = tile.splat %x {shape = [4]} : tile<4xptr<i32>>
    %xs = tile.offset %x4, %lane : tile<4xptr<i32>>
    %out4 = tile.splat %out {shape = [4]} : tile<4xptr<i32>>
    %outs = tile.offset %out4, %lane : tile<4xptr<i32>>
    %v = memory.load %xs, mask = %some : tile<4xi32>
"""


def partial(body: str) -> Module:
    return kernel("%x: ptr<i32>, %out: ptr<i32>", PARTIAL + body)


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1, 5, dtype=np.int32), np.zeros(4, np.int32)


USES = {
    "is stored": "memory.store %outs, %v",
    "is an address": """%p = tile.offset %out4, %v : tile<4xptr<i32>>
    %w = memory.load %p : tile<4xi32>""",
    "is a mask": """%m = tile.lt %v, %three : tile<4xi1>
    memory.store %outs, %lane, mask = %m""",
    "decides what runs next": """%s = tile.reduce_max %v {axis = 0} : i32
    %c = tile.constant {type = i32, value = 2} : i32
    %b = tile.lt %s, %c : i1
    control.if %b then { control.yield } otherwise { control.yield }""",
    "is printed": 'debug.print %v {prefix = "v"}',
    "is asserted": """%m = tile.lt %v, %three : tile<4xi1>
    debug.assert %m {message = "small"}""",
    "takes part in an atomic operation": '%old = atomic.rmw %outs, %v {kind = "add"} : tile<4xi32>',
}


@pytest.mark.parametrize("use", USES, ids=lambda use: use.split()[-1])
def test_use_of_an_undefined_lane(use: str) -> None:
    body = USES[use].replace("debug.print %v", "debug.print [%v]")
    text = refused("X0403", partial("    " + body), (1,), arrays())
    assert f"a value that {use}" in text
    assert "kernel.tile:11" in text.split("masked off in the load at")[1]
    assert "in program (0, 0, 0)" in text


def test_unchecked_runs_give_zero() -> None:
    x, out = arrays()
    run(partial(USES["is stored"]), (1,), (x, out))
    assert out.tolist() == [1, 2, 3, 0]


HARMLESS = {
    "masked store": "memory.store %outs, %v, mask = %some",
    "chosen away": """%w = tile.select %some, %v, %zero : tile<4xi32>
    memory.store %outs, %w""",
    "arithmetic, then masked": """%a = tile.add %v, %v : tile<4xi32>
    %b = tile.sub %a, %v : tile<4xi32>
    memory.store %outs, %b, mask = %some""",
    "false and undefined": """%m = tile.gt %v, %zero : tile<4xi1>
    %both = tile.and %some, %m : tile<4xi1>
    %w = memory.load %xs, mask = %both, other = %zero : tile<4xi32>
    memory.store %outs, %w""",
    "moved, then masked": """%m = tile.reshape %v {shape = [2, 2]} : tile<2x2xi32>
    %t = tile.permute %m {order = [0, 1]} : tile<2x2xi32>
    %w = tile.reshape %t {shape = [4]} : tile<4xi32>
    memory.store %outs, %w, mask = %some""",
    "prefix sums": """%s = tile.cumsum %v {axis = 0} : tile<4xi32>
    memory.store %outs, %s, mask = %some""",
    "address of a masked lane": """%p = tile.offset %x4, %v : tile<4xptr<i32>>
    %w = memory.load %p, mask = %some, other = %zero : tile<4xi32>
    memory.store %outs, %w""",
    "carried by a loop": """%a = tile.constant {type = i32, value = 0} : i32
    %b = tile.constant {type = i32, value = 2} : i32
    %c = tile.constant {type = i32, value = 1} : i32
    %r = control.for %a, %b, %c, inits = [%v] : tile<4xi32> body (%i: i32, %t: tile<4xi32>) {
      %u = tile.add %t, %zero : tile<4xi32>
      control.yield [%u]
    }
    memory.store %outs, %r, mask = %some""",
}


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS)
def test_undefined_lanes_that_are_thrown_away(body: str) -> None:
    run(partial("    " + body), (1,), arrays(), check=True)


def test_rows_of_a_product_are_undefined_apart() -> None:
    product = kernel(
        "%x: ptr<f32>, %out: ptr<f32>",
        """
    %lane = tile.arange {start = 0, end = 4} : tile<4xi32>
    %two = tile.constant {type = tile<4xi32>, value = 2} : tile<4xi32>
    %some = tile.lt %lane, %two : tile<4xi1>
    %x4 = tile.splat %x {shape = [4]} : tile<4xptr<f32>>
    %xs = tile.offset %x4, %lane : tile<4xptr<f32>>
    %v = memory.load %xs, mask = %some : tile<4xf32>
    %m = tile.reshape %v {shape = [2, 2]} : tile<2x2xf32>
    %one = tile.constant {type = tile<2x2xf32>, value = 1.0} : tile<2x2xf32>
    %d = tile.dot %m, %one, %one : tile<2x2xf32>
    %f = tile.reshape %d {shape = [4]} : tile<4xf32>
    %out4 = tile.splat %out {shape = [4]} : tile<4xptr<f32>>
    %outs = tile.offset %out4, %lane : tile<4xptr<f32>>
    memory.store %outs, %f, mask = %some
""",
    )
    x, out = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    run(product, (1,), (x, out), check=True)
    assert out.tolist() == [4, 4, 0, 0]


@pytest.mark.parametrize("axis_sum", ["tile.reduce_sum", "tile.reduce_max", "tile.cumsum"])
def test_reductions_over_an_undefined_lane(axis_sum: str) -> None:
    kind = "tile<4xi32>" if "cumsum" in axis_sum else "i32"
    target = "%outs" if "cumsum" in axis_sum else "%out"
    body = f"""    %s = {axis_sum} %v {{axis = 0}} : {kind}
    memory.store {target}, %s
"""
    refused("X0403", partial(body), (1,), arrays())


def test_two_programs_write_one_element() -> None:
    body = COPY + "    memory.store %outs, %v, mask = %mask\n"
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    # %outs points to out[0] in every lane and program
    text = refused("X0404", kernel(COPY_PARAMETERS, body), (2,), (x, out, 8))
    assert "writes element 0 of out, which program (0, 0, 0) writes" in text
    assert "in program (1, 0, 0)" in text
    assert text.count("kernel.tile:16") >= 2
    run(kernel(COPY_PARAMETERS, body), (1,), (x, out, 8), check=True)


def test_one_program_reads_what_another_writes() -> None:
    body = COPY + "    memory.store %to, %v, mask = %mask\n"
    copy = kernel(COPY_PARAMETERS, body)
    buffer = np.arange(12, dtype=np.float32)
    # program 0 writes buffer[4..7], which program 1 reads
    text = refused("X0404", copy, (2,), (buffer[:8], buffer[4:], 8))
    assert "reads element 4 of x, which program (0, 0, 0) writes" in text
    shared = np.arange(8, dtype=np.float32)
    run(copy, (2,), (shared, shared, 8), check=True)


def test_one_program_writes_what_another_has_read() -> None:
    # program 0 reads x[0]; program 1 writes it
    kernel_ = kernel(
        "%x: ptr<f32>, %y: ptr<f32>",
        """
    %pid = grid.program_id {axis = 0} : i32
    %zero = tile.constant {type = i32, value = 0} : i32
    %first = tile.eq %pid, %zero : i1
    %v = control.if %first : f32 then {
      %a = memory.load %x : f32
      control.yield [%a]
    } otherwise {
      %b = memory.load %y : f32
      memory.store %x, %b
      control.yield [%b]
    }
""",
    )
    text = refused("X0404", kernel_, (2,), (np.zeros(1, np.float32), np.zeros(1, np.float32)))
    assert "writes element 0 of x, which program (0, 0, 0) reads" in text
    assert "kernel.tile:11" in text


def test_reading_the_same_element_is_no_race() -> None:
    body = COPY.replace("memory.load %from", "memory.load %xs") + "    memory.store %to, %v, mask = %mask\n"
    x, out = np.full(1, 5, np.float32), np.zeros(8, np.float32)
    run(kernel(COPY_PARAMETERS, body), (2,), (x, out, 8), check=True)
    assert out.tolist() == [5] * 8


COUNT = """
    %one = tile.constant {type = i32, value = 1} : i32
    %old = atomic.rmw %counter, %one {kind = "add"%sem} : i32
    %n = grid.num_programs {axis = 0} : i32
    %pid = grid.program_id {axis = 0} : i32
"""


def test_atomics_are_no_race() -> None:
    counter = np.zeros(1, np.int32)
    run(kernel("%counter: ptr<i32>", COUNT.replace("%sem", "")), (5,), (counter,), check=True)
    assert counter[0] == 5


def last_one_sums(sem: str) -> Module:
    """Every program writes its own element, counts, and the last one to count reads all of them."""
    body = f"""
    %pid = grid.program_id {{axis = 0}} : i32
    %mine = tile.offset %part, %pid : ptr<i32>
    memory.store %mine, %pid
    %one = tile.constant {{type = i32, value = 1}} : i32
    %old = atomic.rmw %counter, %one {{kind = "add"{sem}}} : i32
    %two = tile.constant {{type = i32, value = 2}} : i32
    %last = tile.eq %old, %two : i1
    control.if %last then {{
      %lane = tile.arange {{start = 0, end = 3}} : tile<3xi32>
      %part3 = tile.splat %part {{shape = [3]}} : tile<3xptr<i32>>
      %parts = tile.offset %part3, %lane : tile<3xptr<i32>>
      %v = memory.load %parts : tile<3xi32>
      %s = tile.reduce_sum %v {{axis = 0}} : i32
      memory.store %out, %s
      control.yield
    }} otherwise {{
      control.yield
    }}
"""
    return kernel("%part: ptr<i32>, %counter: ptr<i32>, %out: ptr<i32>", body)


def test_atomics_order_what_stands_around_them() -> None:
    part, counter, out = np.zeros(3, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    run(last_one_sums(""), (3,), (part, counter, out), check=True)
    assert out[0] == 3
    counter[:] = 0
    text = refused("X0404", last_one_sums(', sem = "relaxed"'), (3,), (part, counter, out))
    assert "which program (0, 0, 0) writes" in text
