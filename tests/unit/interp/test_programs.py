"""Control flow, atomics, prints, assertions, and combine functions."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tests.unit.interp.kernels import kernel, refused
from xdsl_core.interp import prepare, run

checks = pytest.mark.parametrize("check", [False, True], ids=["plain", "checked"])

LOOP = kernel(
    "%out: ptr<i32>, %lower: i32, %upper: i32, %step: i32",
    """
    %zero = tile.constant {type = i32, value = 0} : i32
    %minus = tile.constant {type = i32, value = -1} : i32
    %sum, %end = control.for %lower, %upper, %step, inits = [%zero, %minus] : (i32, i32)
        body (%i: i32, %s: i32, %l: i32) {
      %t = tile.add %s, %i : i32
      control.yield [%t, %i]
    }
    memory.store %out, %sum
    %one = tile.constant {type = i32, value = 1} : i32
    %p = tile.offset %out, %one : ptr<i32>
    memory.store %p, %end
""",
)


@checks
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0, 4, 1), [6, 3]),
        ((0, 0, 1), [0, -1]),
        ((0, -3, 1), [0, -1]),
        ((1, 8, 3), [12, 7]),
        ((-5, -3, 2), [-5, -5]),
    ],
)
def test_for(check: bool, bounds: tuple[int, int, int], expected: list[int]) -> None:
    out = np.zeros(2, np.int32)
    run(LOOP, (1,), (out, *bounds), check=check)
    assert out.tolist() == expected


@pytest.mark.parametrize("step", [0, -1])
def test_step_that_is_not_above_zero(step: int) -> None:
    text = refused("X0407", LOOP, (1,), (np.zeros(2, np.int32), 0, 4, step))
    assert f"the loop's step is {step}" in text
    assert "kernel.tile:5" in text


WHILE = kernel(
    "%out: ptr<i32>, %n: i32",
    """
    %zero = tile.constant {type = i32, value = 0} : i32
    %one = tile.constant {type = i32, value = 1} : i32
    %two = tile.constant {type = i32, value = 2} : i32
    %three = tile.constant {type = i32, value = 3} : i32
    %steps, %final = control.while [%zero, %n] : (i32, i32) before (%s: i32, %v: i32) {
      %more = tile.gt %v, %one : i1
      control.condition %more, values = [%s, %v]
    } after (%s2: i32, %v2: i32) {
      %odd = tile.rem %v2, %two : i32
      %is_odd = tile.eq %odd, %one : i1
      %next = control.if %is_odd : i32 then {
        %a = tile.mul %v2, %three : i32
        %b = tile.add %a, %one : i32
        control.yield [%b]
      } otherwise {
        %h = tile.div %v2, %two : i32
        control.yield [%h]
      }
      %t = tile.add %s2, %one : i32
      control.yield [%t, %next]
    }
    memory.store %out, %steps
""",
)


@checks
def test_while_and_if(check: bool) -> None:
    out = np.zeros(1, np.int32)
    for start, steps in ((1, 0), (6, 8), (27, 111)):
        run(WHILE, (1,), (out, start), check=check)
        assert out[0] == steps


def test_a_prepared_kernel_runs_again_and_again() -> None:
    prepared = prepare(WHILE)
    out = np.zeros(1, np.int32)
    for start, steps in ((27, 111), (6, 8), (27, 111)):
        prepared.run((1,), (out, start))
        assert out[0] == steps


def test_a_kernel_is_chosen_by_name() -> None:
    module = WHILE.clone()
    module.add(LOOP.clone().functions["kernel"].__class__("other", []))
    with pytest.raises(ValueError, match="2 kernels; name one of kernel, other"):
        prepare(module)
    prepare(module, kernel="kernel")


ATOMIC = """
    %lane = tile.arange {start = 0, end = 8} : tile<8xi32>
    %i4 = tile.splat %index {shape = [8]} : tile<8xptr<i32>>
    %is = tile.offset %i4, %lane : tile<8xptr<i32>>
    %i = memory.load %is : tile<8xi32>
    %bins8 = tile.splat %bins {shape = [8]} : tile<8xptr<i32>>
    %p = tile.offset %bins8, %i : tile<8xptr<i32>>
    %out8 = tile.splat %out {shape = [8]} : tile<8xptr<i32>>
    %outs = tile.offset %out8, %lane : tile<8xptr<i32>>
"""
ATOMIC_PARAMETERS = "%index: ptr<i32>, %bins: ptr<i32>, %out: ptr<i32>"


@checks
def test_equal_addresses_take_turns(check: bool) -> None:
    add = kernel(
        ATOMIC_PARAMETERS,
        ATOMIC
        + """
    %one = tile.constant {type = tile<8xi32>, value = 1} : tile<8xi32>
    %old = atomic.rmw %p, %one {kind = "add"} : tile<8xi32>
    memory.store %outs, %old
""",
    )
    index = np.array([0, 1, 0, 0, 3, 1, 0, 3], np.int32)
    bins, out = np.zeros(4, np.int32), np.zeros(8, np.int32)
    run(add, (1,), (index, bins, out), check=check)
    assert bins.tolist() == [4, 2, 0, 2]
    assert [sorted(out[index == bin].tolist()) for bin in (0, 1, 3)] == [[0, 1, 2, 3], [0, 1], [0, 1]]


@checks
def test_masked_atomic(check: bool) -> None:
    masked = kernel(
        ATOMIC_PARAMETERS,
        ATOMIC
        + """
    %ten = tile.constant {type = tile<8xi32>, value = 10} : tile<8xi32>
    %five = tile.constant {type = tile<8xi32>, value = 5} : tile<8xi32>
    %minus = tile.constant {type = tile<8xi32>, value = -1} : tile<8xi32>
    %m = tile.lt %lane, %five : tile<8xi1>
    %old = atomic.rmw %p, %ten, mask = %m {kind = "add"} : tile<8xi32>
    %shown = tile.select %m, %old, %minus : tile<8xi32>
    memory.store %outs, %shown
""",
    )
    memory, out = np.arange(1, 9, dtype=np.int32), np.zeros(8, np.int32)
    run(masked, (1,), (np.arange(8, dtype=np.int32), memory, out), check=check)
    assert memory.tolist() == [11, 12, 13, 14, 15, 6, 7, 8]
    assert out.tolist() == [1, 2, 3, 4, 5, -1, -1, -1]


def test_compare_and_swap_in_order() -> None:
    swap = kernel(
        ATOMIC_PARAMETERS,
        ATOMIC
        + """
    %old = atomic.cas %p, %lane, %i {sem = "relaxed"} : tile<8xi32>
    memory.store %outs, %old
""",
    )
    index, bins, out = np.zeros(8, np.int32), np.zeros(1, np.int32), np.zeros(8, np.int32)
    run(swap, (1,), (index, bins, out), check=True)
    assert out.tolist() == [0] * 8
    index[:] = 0
    bins[0] = 3
    run(swap, (1,), (index, bins, out), check=True)
    assert out.tolist() == [3, 3, 3, 3, 0, 0, 0, 0]


def test_atomic_at_an_odd_address() -> None:
    odd = kernel(
        "%x: ptr<i32>",
        """
    %b = tile.pointer_cast %x {pointee = dtype<i8>} : ptr<i8>
    %k = tile.constant {type = i32, value = 2} : i32
    %c = tile.offset %b, %k : ptr<i8>
    %d = tile.pointer_cast %c {pointee = dtype<i32>} : ptr<i32>
    %old = atomic.rmw %d, %k {kind = "xchg"} : i32
""",
    )
    text = refused("X0408", odd, (1,), (np.zeros(2, np.int32),), check=False)
    assert "no multiple of the element's 4 bytes" in text


def test_print() -> None:
    show = kernel(
        "%x: ptr<i32>",
        """
    %lane = tile.arange {start = 1, end = 5} : tile<4xi32>
    %pid = grid.program_id {axis = 0} : i32
    %half = tile.constant {type = tile<2x2xf32>, value = 0.1} : tile<2x2xf32>
    %nan = tile.constant {type = f64, value = nan} : f64
    %yes = tile.constant {type = i1, value = true} : i1
    %minus = tile.constant {type = tile<2xi8>, value = -1} : tile<2xi8>
    debug.print [%lane] {prefix = "lanes:"}
    debug.print [%pid, %half, %nan, %yes] {prefix = ""}
    debug.print [%minus] {prefix = "bits", hex = true}
    debug.print {prefix = "done"}
""",
    )
    output = io.StringIO()
    run(show, (1, 2), (np.zeros(1, np.int32),), output=output, check=True)
    program = """(0, 0, 0) lanes: [1 2 3 4]
(0, 0, 0) 0
(0, 0, 0) [[0.1 0.1] [0.1 0.1]]
(0, 0, 0) nan
(0, 0, 0) 1
(0, 0, 0) bits [0xff 0xff]
(0, 0, 0) done
"""
    assert output.getvalue() == program + program.replace("(0, 0, 0)", "(0, 1, 0)")


def test_print_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    run(kernel("", '    debug.print {prefix = "hello"}'), (1,), ())
    assert capsys.readouterr().out == "(0, 0, 0) hello\n"


ASSERTION = kernel(
    "%x: ptr<i32>, %n: i32",
    """
    %lane = tile.arange {start = 0, end = 4} : tile<4xi32>
    %x4 = tile.splat %x {shape = [4]} : tile<4xptr<i32>>
    %xs = tile.offset %x4, %lane : tile<4xptr<i32>>
    %bound = tile.splat %n {shape = [4]} : tile<4xi32>
    %m = tile.lt %lane, %bound : tile<4xi1>
    %v = memory.load %xs, mask = %m : tile<4xi32>
    %zero = tile.constant {type = tile<4xi32>, value = 0} : tile<4xi32>
    %ok = tile.ge %v, %zero : tile<4xi1>
    debug.assert %ok, mask = %m {message = "no negative numbers"}
""",
)


def test_assertion() -> None:
    x = np.array([1, -2, 3, -4], np.int32)
    text = refused("X0405", ASSERTION, (1,), (x, 4))
    assert "assertion failed: no negative numbers" in text
    assert "false in lane (1,) and 1 more" in text
    assert "in program (0, 0, 0)" in text
    assert "kernel.tile:11" in text
    run(ASSERTION, (1,), (x, 1), check=True)


def test_combine_function_with_a_branch() -> None:
    """A branch inside a combine function makes the interpreter go lane by lane."""
    largest = kernel(
        "%x: ptr<i32>, %out: ptr<i32>",
        """
    %lane = tile.arange {start = 0, end = 6} : tile<6xi32>
    %x6 = tile.splat %x {shape = [6]} : tile<6xptr<i32>>
    %xs = tile.offset %x6, %lane : tile<6xptr<i32>>
    %v = memory.load %xs : tile<6xi32>
    %m = tile.reshape %v {shape = [2, 3]} : tile<2x3xi32>
    %r = tile.reduce [%m] {axis = 1} : tile<2xi32> combine (%a: i32, %b: i32) {
      %c = tile.gt %a, %b : i1
      %w = control.if %c : i32 then { control.yield [%a] } otherwise { control.yield [%b] }
      control.yield [%w]
    }
    %two = tile.arange {start = 0, end = 2} : tile<2xi32>
    %out2 = tile.splat %out {shape = [2]} : tile<2xptr<i32>>
    %outs = tile.offset %out2, %two : tile<2xptr<i32>>
    memory.store %outs, %r
""",
    )
    out = np.zeros(2, np.int32)
    run(largest, (1,), (np.array([3, 9, 4, -1, -7, -2], np.int32), out), check=True)
    assert out.tolist() == [9, -1]


def test_values_are_rounded_after_every_op() -> None:
    chain = kernel(
        "%x: ptr<f16>",
        """
    %v = memory.load %x : f16
    %one = tile.constant {type = f16, value = 1.0} : f16
    %a = tile.add %v, %one : f16
    %b = tile.sub %a, %v : f16
    memory.store %x, %b
""",
    )
    x = np.array([2048], np.float16)
    run(chain, (1,), (x,))
    assert x[0] == 0
