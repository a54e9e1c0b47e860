"""Pointers into arrays of all kinds: strides, views, aliases, bounds."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from tests.unit.interp.kernels import COPY, COPY_PARAMETERS, kernel, refused
from xdsl_core.interp import run
from xdsl_core.interp.memory import Memory, segment_of

copy = kernel(COPY_PARAMETERS, COPY + "    memory.store %to, %v, mask = %mask\n")
checks = pytest.mark.parametrize("check", [False, True], ids=["plain", "checked"])


def at(offset: str, element: str = "f32") -> Any:
    """A kernel that adds one to the element of %x at an offset."""
    one = "1" if element[0] in "iu" else "1.0"
    return kernel(
        f"%x: ptr<{element}>",
        f"""
    %k = tile.constant {{type = i64, value = {offset}}} : i64
    %p = tile.offset %x, %k : ptr<{element}>
    %v = memory.load %p : {element}
    %one = tile.constant {{type = {element}, value = {one}}} : {element}
    %w = tile.add %v, %one : {element}
    memory.store %p, %w
""",
    )


@checks
def test_masked_lanes_touch_no_memory(check: bool) -> None:
    x, out = np.arange(10, dtype=np.float32), np.full(12, -1, np.float32)
    run(copy, (3,), (x, out[:10], 10), check=check)
    assert out.tolist() == [*range(10), -1, -1]


@checks
def test_out_of_bounds_is_an_error_and_writes_nothing(check: bool) -> None:
    whole = np.full(64, 7.0, np.float32)
    out = np.frombuffer(whole.tobytes(), np.float32).copy()
    text = refused("X0401", copy, (3,), (np.ones(12, np.float32), out[:10].copy(), 12), check=check)
    assert "writes element 10 of out" in text
    assert "out holds 10 elements, 0 to 9 of f32" in text
    assert "in program (2, 0, 0)" in text
    assert "kernel.tile:16" in text
    text = refused("X0401", copy, (3,), (np.ones(9, np.float32), out, 12), check=check)
    assert "reads element 9 of x" in text
    assert "kernel.tile:13" in text


def test_bounds_are_those_of_the_memory_behind_a_view() -> None:
    base = np.arange(8, dtype=np.float32)
    run(at("-2"), (1,), (base[4:],))
    assert base[2] == 3
    text = refused("X0401", at("-5"), (1,), (base[4:],))
    assert "element -5 of x" in text
    assert "x holds 8 elements, -4 to 3" in text
    assert "element 4 of x" in refused("X0401", at("4"), (1,), (base[4:],))


def test_reversed_view() -> None:
    base = np.arange(8, dtype=np.float32)
    run(at("-7"), (1,), (base[::-1],))
    assert base.tolist() == [1, 1, 2, 3, 4, 5, 6, 7]
    assert "element 1 of x" in refused("X0401", at("1"), (1,), (base[::-1],))


def test_transposed_view_is_not_copied() -> None:
    base = np.zeros((2, 4), np.float32)
    run(at("5"), (1,), (base.T,))
    assert base[1, 1] == 1


def test_view_by_as_strided_belongs_to_its_base() -> None:
    base = np.zeros(8, np.float32)
    run(at("6"), (1,), (as_strided(base[1:], (2, 2), (8, 4)),))
    assert base[7] == 1
    refused("X0401", at("7"), (1,), (as_strided(base[1:], (2, 2), (8, 4)),))


def test_memory_that_numpy_does_not_own() -> None:
    raw = bytearray(16)
    run(at("3"), (1,), (np.frombuffer(raw, np.float32),))
    assert np.frombuffer(raw, np.float32).tolist() == [0, 0, 0, 1]


def test_the_same_array_twice_is_one_memory() -> None:
    swap = kernel(
        "%a: ptr<f32>, %b: ptr<f32>",
        """
    %one = tile.constant {type = f32, value = 1.0} : f32
    memory.store %a, %one
    %v = memory.load %b : f32
    %w = tile.add %v, %one : f32
    memory.store %b, %w
""",
    )
    buffer = np.zeros(1, np.float32)
    run(swap, (1,), (buffer, buffer), check=True)
    assert buffer[0] == 2


def test_overlapping_slices() -> None:
    base = np.arange(12, dtype=np.float32)
    run(copy, (2,), (base[0:8], base[4:12], 8))
    assert base.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]


def test_read_only_array() -> None:
    x = np.zeros(4, np.float32)
    x.flags.writeable = False
    assert "x, which is read-only" in refused("X0406", at("0"), (1,), (x,), check=False)
    assert x.tolist() == [0, 0, 0, 0]


def test_unaligned_array() -> None:
    raw = np.zeros(13, np.uint8)
    x = raw[1:].view(np.float32)
    run(at("2"), (1,), (x,))
    assert x.tolist() == [0, 0, 1]
    assert raw[0] == 0


def test_pointer_moved_by_bytes() -> None:
    halves = kernel(
        "%x: ptr<i32>, %out: ptr<i32>",
        """
    %b = tile.pointer_cast %x {pointee = dtype<i8>} : ptr<i8>
    %k = tile.constant {type = i32, value = 2} : i32
    %c = tile.offset %b, %k : ptr<i8>
    %d = tile.pointer_cast %c {pointee = dtype<i32>} : ptr<i32>
    %v = memory.load %d : i32
    memory.store %out, %v
    memory.store %d, %v
""",
    )
    x, out = np.array([0x11112222, 0x33334444], np.int32), np.zeros(1, np.int32)
    run(halves, (1,), (x, out), check=True)
    assert out[0] == 0x44441111
    last = np.array([1], np.int32)
    text = refused("X0401", halves, (1,), (last, out))
    assert "element 0 (plus 2 bytes) of x" in text


def test_addresses_survive_a_round_trip_through_integers() -> None:
    round_trip = kernel(
        "%x: ptr<f32>, %n: i64",
        """
    %a = tile.pointer_to_int %x : i64
    %b = tile.add %a, %n : i64
    %p = tile.int_to_pointer %b {pointee = dtype<f32>} : ptr<f32>
    %v = memory.load %p : f32
    memory.store %x, %v
""",
    )
    x = np.array([0, 5], np.float32)
    run(round_trip, (1,), (x, 4), check=True)
    assert x.tolist() == [5, 5]
    text = refused("X0402", round_trip, (1,), (x, -(2**44)))
    assert "belongs to no argument" in text


def test_pointers_to_several_arguments_in_one_tile() -> None:
    gather = kernel(
        "%a: ptr<i32>, %b: ptr<i32>, %out: ptr<i32>",
        """
    %lane = tile.arange {start = 0, end = 4} : tile<4xi32>
    %two = tile.constant {type = tile<4xi32>, value = 2} : tile<4xi32>
    %c = tile.lt %lane, %two : tile<4xi1>
    %as = tile.splat %a {shape = [4]} : tile<4xptr<i32>>
    %bs = tile.splat %b {shape = [4]} : tile<4xptr<i32>>
    %s = tile.select %c, %as, %bs : tile<4xptr<i32>>
    %p = tile.offset %s, %lane : tile<4xptr<i32>>
    %v = memory.load %p : tile<4xi32>
    %outs = tile.splat %out {shape = [4]} : tile<4xptr<i32>>
    %q = tile.offset %outs, %lane : tile<4xptr<i32>>
    memory.store %q, %v
    memory.store %p, %lane
""",
    )
    a, b, out = np.arange(10, 14, dtype=np.int32), np.arange(20, 24, dtype=np.int32), np.zeros(4, np.int32)
    run(gather, (1,), (a, b, out), check=True)
    assert out.tolist() == [10, 11, 22, 23]
    assert a.tolist() == [0, 1, 12, 13]
    assert b.tolist() == [20, 21, 2, 3]


def test_bools_are_bytes() -> None:
    flip = kernel(
        "%x: ptr<i1>",
        """
    %lane = tile.arange {start = 0, end = 4} : tile<4xi32>
    %xs = tile.splat %x {shape = [4]} : tile<4xptr<i1>>
    %p = tile.offset %xs, %lane : tile<4xptr<i1>>
    %v = memory.load %p : tile<4xi1>
    %w = tile.not %v : tile<4xi1>
    memory.store %p, %w
""",
    )
    raw = np.array([0, 1, 255, 2], np.uint8)
    run(flip, (1,), (raw.view(np.bool_),))
    assert raw.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("f8e5m2", ml_dtypes.float8_e5m2),
        ("u64", np.uint64),
    ],
)
def test_elements_of_all_widths(element: str, kind: Any) -> None:
    x = np.zeros(5, kind)
    run(at("3", element), (1,), (x,))
    assert x.astype(np.float64).tolist() == [0, 0, 0, 1, 0]


def test_pointer_objects_and_memory_of_unknown_size() -> None:
    class Foreign:
        """What the runtime passes for arrays that are not numpy's."""

        def __init__(self, array: np.ndarray, size: int) -> None:
            self.address = self.storage_address = array.ctypes.data
            self.storage_bytes = size
            self.writable = True
            self.array = array

    x = np.zeros(4, np.float32)
    run(at("1"), (1,), (Foreign(x, 8),))
    assert x[1] == 1
    refused("X0401", at("2"), (1,), (Foreign(x, 8),))
    run(at("2"), (1,), (Foreign(x, -1),))
    assert x[2] == 1


def test_empty_array_holds_nothing() -> None:
    text = refused("X0401", at("0"), (1,), (np.zeros(0, np.float32),))
    assert "x holds no element" in text


def test_segments_know_their_storage() -> None:
    base = np.zeros((4, 6), np.int16)
    segment = segment_of(base[1:3, ::-2], "x", 2)
    assert segment.base == 3 << 44
    assert segment.storage.size == base.nbytes
    assert segment.origin == (1 * 6 + 5) * 2
    assert Memory([None, None, segment]).segments[2] is segment


def test_grid_of_three_axes_and_empty_grids() -> None:
    mark = kernel(
        "%x: ptr<i32>",
        """
    %i = grid.program_id {axis = 0} : i32
    %j = grid.program_id {axis = 1} : i32
    %k = grid.program_id {axis = 2} : i32
    %ni = grid.num_programs {axis = 0} : i32
    %nj = grid.num_programs {axis = 1} : i32
    %a = tile.mul %k, %nj : i32
    %b = tile.add %a, %j : i32
    %c = tile.mul %b, %ni : i32
    %d = tile.add %c, %i : i32
    %p = tile.offset %x, %d : ptr<i32>
    memory.store %p, %d
""",
    )
    x = np.full(24, -1, np.int32)
    run(mark, (2, 3, 4), (x,), check=True)
    assert x.tolist() == list(range(24))
    y = np.full(4, -1, np.int32)
    for grid in ((0,), (3, 0, 2)):
        run(mark, grid, (y,))
    assert y.tolist() == [-1] * 4
    with pytest.raises(ValueError, match="one to three extents"):
        run(mark, (1, 1, 1, 1), (y,))


def test_scalars_wrap_into_their_parameters() -> None:
    keep = kernel(
        "%x: ptr<i32>, %v: i8, %f: f16, %b: i1",
        """
    %w = tile.cast %v {to = dtype<i32>} : i32
    memory.store %x, %w
""",
    )
    x = np.zeros(1, np.int32)
    run(keep, (1,), (x, 200, 0.1, True))
    assert x[0] == -56
    with pytest.raises(ValueError, match="4 parameters, not 1"):
        run(keep, (1,), (x,))
