"""Launchers, compiled and in Python: packing, argument checks, overlap. Both must answer the same way."""

from __future__ import annotations

import array
import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xdsl_core.backend.toolchain import Compiler, compile_shared, find_compiler
from xdsl_cpu_c.runtime import (
    ALIASED,
    GRID,
    OK,
    ArgumentFault,
    Launcher,
    Parameter,
    Runtime,
    load_runtime,
    make_launcher,
    threads_from_environment,
)
from xdsl_cpu_c.runtime.extent import byte_range, extent_of

pytestmark = pytest.mark.compiler

# Slot 2 is where to write, slot 3 how many of the following slots to write there, after the grid.
DUMP = """
#include <stdint.h>
void body(const uint64_t *slots, int64_t first, int64_t last)
{
    uint64_t *out = (uint64_t *)slots[2];
    const int64_t *grid = (const int64_t *)slots[0];
    if (out == 0 || first != 0)
        return;
    for (int i = 0; i < 3; i++)
        out[i] = (uint64_t)grid[i];
    for (uint64_t i = 0; i < slots[3]; i++)
        out[3 + i] = slots[4 + i];
}
"""
OUT = Parameter("out", "pointer", written=True, read=False, itemsize=8)
COUNT = Parameter("count", "int", bits=32)
FLOATS_IN = Parameter("x", "pointer", itemsize=4)
FLOATS_OUT = Parameter("y", "pointer", written=True, itemsize=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("launcher")


@pytest.fixture(scope="module")
def compiler(folder: Path) -> Compiler:
    return find_compiler(cache_dir=folder)


@pytest.fixture(scope="module", params=["compiled", "python"])
def runtime(request: pytest.FixtureRequest, folder: Path, compiler: Compiler) -> Runtime:
    wanted = request.param == "compiled"
    loaded = load_runtime(folder, compiler, compiled=wanted)
    if loaded.compiled != wanted:
        pytest.skip("this Python has no Python.h")
    return loaded


@pytest.fixture(scope="module")
def body(runtime: Runtime, folder: Path, compiler: Compiler) -> int:
    return runtime.load_body(compile_shared(DUMP, folder / "dump.so", compiler=compiler))


def dump(runtime: Runtime, body: int, parameter: Parameter, argument: Any) -> int:
    """The slot that an argument becomes."""
    out = np.zeros(4, np.uint64)
    assert make_launcher(body, (OUT, COUNT, parameter), runtime)((1, 1, 1), (out, 1, argument)) == OK
    return int(out[3])


def fault(launcher: Launcher, args: tuple[Any, ...], grid: Any = (1, 1, 1)) -> ArgumentFault:
    with pytest.raises(ArgumentFault) as caught:
        launcher(grid, args)
    return caught.value


@pytest.mark.parametrize(
    ("bits", "signed", "value", "slot"),
    [
        (32, True, -5, 2**64 - 5),
        (8, True, -128, 2**64 - 128),
        (64, True, -(2**63), 2**63),
        (32, False, 2**32 - 1, 2**32 - 1),
        (64, False, 2**64 - 1, 2**64 - 1),
        (64, False, 2**63, 2**63),
        (32, True, np.int16(-3), 2**64 - 3),
        (32, True, np.uint8(200), 200),
        (32, True, True, 1),
        (32, True, np.bool_(True), 1),
        (63, False, 2**63 - 1, 2**63 - 1),
    ],
)
def test_integers_are_extended(
    runtime: Runtime, body: int, bits: int, signed: bool, value: Any, slot: int
) -> None:
    assert dump(runtime, body, Parameter("n", "int", bits=bits, signed=signed), value) == slot


@pytest.mark.parametrize(
    ("bits", "signed", "value"),
    [
        (32, True, 2**31),
        (32, True, -(2**31) - 1),
        (8, False, 256),
        (8, False, -1),
        (64, True, 2**63),
        (64, True, -(2**70)),
        (64, False, -1),
        (64, False, 2**64),
        (1, False, 2),
    ],
)
def test_integer_out_of_range(runtime: Runtime, body: int, bits: int, signed: bool, value: int) -> None:
    launcher = make_launcher(body, (OUT, Parameter("n", "int", bits=bits, signed=signed)), runtime)
    caught = fault(launcher, (np.zeros(8, np.uint64), value))
    assert caught.index == 1
    assert caught.reason == f"is {value}, which does not fit in {'int' if signed else 'uint'}{bits}"


@pytest.mark.parametrize("value", [1.5, -0.0, float("inf"), 3, np.float32(0.25), np.int64(7), True])
def test_floats_are_doubles(runtime: Runtime, body: int, value: Any) -> None:
    slot = dump(runtime, body, Parameter("f", "float"), value)
    assert slot == int(np.float64(value).view(np.uint64))


@pytest.mark.parametrize(("value", "slot"), [(True, 1), (False, 0), (1, 1), (np.bool_(False), 0)])
def test_booleans(runtime: Runtime, body: int, value: Any, slot: int) -> None:
    assert dump(runtime, body, Parameter("b", "bool"), value) == slot


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("int", 1.0, "is a float, but the kernel takes an integer here"),
        ("int", None, "is a NoneType, but the kernel takes an integer here"),
        ("float", "1.0", "is a str, but the kernel takes a float here"),
        ("float", 10**400, "is an integer too large for a float"),
        ("float", 1j, "is a complex, but the kernel takes a float here"),
        ("bool", 2, "is 2, which is neither True nor False"),
        ("bool", "yes", "is a str, but the kernel takes a boolean here"),
        ("pointer", 3, "is a int, which is not an array in host memory"),
        ("pointer", np.float32(1), "is a float32, which is not an array in host memory"),
        ("pointer", [1.0], "is a list, which is not an array in host memory"),
    ],
)
def test_wrong_type(runtime: Runtime, body: int, kind: Any, value: Any, reason: str) -> None:
    launcher = make_launcher(body, (OUT, COUNT, Parameter("p", kind)), runtime)
    out = np.full(4, 9, np.uint64)
    caught = fault(launcher, (out, 1, value))
    assert (caught.index, caught.reason) == (2, reason)
    assert (out == 9).all(), "nothing may run"


BASE = np.arange(60, dtype=np.float32)


@pytest.mark.parametrize(
    "view",
    [
        BASE,
        BASE[7:],
        BASE[::-1],
        BASE.reshape(6, 10)[::-2, 3:8],
        BASE.reshape(6, 10).T,
        BASE[:0],
        np.array(3, np.float32),
        np.broadcast_to(BASE[:1], (4, 5)),
        BASE.astype(ml_dtypes.bfloat16)[::-1],
        BASE.astype(ml_dtypes.float8_e4m3fn),
        memoryview(BASE),
        array.array("f", [1, 2, 3]),
        bytearray(8),
    ],
    ids=lambda view: type(view).__name__,
)
def test_pointer_is_the_first_element(runtime: Runtime, body: int, view: Any) -> None:
    expected = np.asarray(view).__array_interface__["data"][0]
    assert dump(runtime, body, Parameter("x", "pointer"), view) == expected


def test_none_is_the_null_pointer(runtime: Runtime, body: int) -> None:
    assert dump(runtime, body, FLOATS_IN, None) == 0
    assert make_launcher(body, (OUT, COUNT), runtime)((1, 1, 1), (None, 0)) == OK


class FakeTensor:
    """What a torch tensor answers, over a numpy array."""

    def __init__(self, values: np.ndarray[Any, Any], device: str = "cpu") -> None:
        self.values, self.device, self.is_cpu, self.shape = values, device, device == "cpu", values.shape

    def data_ptr(self) -> int:
        return int(self.values.__array_interface__["data"][0])

    def element_size(self) -> int:
        return self.values.itemsize

    def numel(self) -> int:
        return self.values.size

    def is_contiguous(self) -> bool:
        return bool(self.values.flags.c_contiguous)

    def stride(self) -> tuple[int, ...]:
        return tuple(stride // self.values.itemsize for stride in self.values.strides)


class OnlyDlpack:
    """An exporter that knows nothing but DLPack."""

    def __init__(self, values: np.ndarray[Any, Any], device: tuple[int, int] = (1, 0)) -> None:
        self.values, self.device = values, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def only_interface(values: np.ndarray[Any, Any]) -> Any:
    return SimpleNamespace(__array_interface__=values.__array_interface__, held=values)


@pytest.mark.parametrize("wrap", [FakeTensor, OnlyDlpack, only_interface])
def test_other_exporters(runtime: Runtime, body: int, wrap: Any) -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)[1:, 2:]
    address = values.__array_interface__["data"][0]
    assert dump(runtime, body, FLOATS_IN, wrap(values)) == address
    launcher = make_launcher(body, (COUNT, COUNT, FLOATS_IN, FLOATS_OUT), runtime)
    assert launcher((0, 1, 1), (0, 0, wrap(values), values[1:])) == ALIASED
    assert launcher((0, 1, 1), (0, 0, wrap(values[:1]), values[2:].copy())) == OK


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (FakeTensor(BASE, "cuda:0"), "is a tensor on device cuda:0; move it to host memory with .cpu()"),
        (OnlyDlpack(BASE, (2, 0)), "lives on device 2:0"),
    ],
)
def test_device_memory_is_refused(runtime: Runtime, body: int, argument: Any, words: str) -> None:
    caught = fault(make_launcher(body, (COUNT, COUNT, FLOATS_IN), runtime), (0, 0, argument))
    assert caught.index == 2
    assert words in caught.reason


def test_torch_tensor(runtime: Runtime, body: int) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4)[1:].T
    assert dump(runtime, body, Parameter("x", "pointer", itemsize=2), tensor) == tensor.data_ptr()


@pytest.mark.parametrize(
    "readonly", [np.broadcast_to(BASE[:1], 5), b"12345678", memoryview(BASE).toreadonly()]
)
def test_read_only_argument(runtime: Runtime, body: int, readonly: Any) -> None:
    written = Parameter("y", "pointer", written=True)
    caught = fault(make_launcher(body, (COUNT, COUNT, written), runtime), (0, 0, readonly))
    assert (caught.index, caught.reason) == (2, "is read-only, but the kernel writes to it")
    read = Parameter("x", "pointer")
    assert make_launcher(body, (OUT, COUNT, read), runtime)((1, 1, 1), (None, 0, readonly)) == OK


def test_element_size_and_alignment(runtime: Runtime, body: int) -> None:
    launcher = make_launcher(body, (OUT, COUNT, FLOATS_IN), runtime)
    caught = fault(launcher, (None, 0, np.zeros(3)))
    assert caught.reason == "has elements of 8 bytes, but the kernel was compiled for 4"
    shifted = np.zeros(9, np.uint8)[1:].view(np.float32)
    assert fault(launcher, (None, 0, shifted)).reason == "is not aligned to its elements of 4 bytes"


def test_overlap(runtime: Runtime, body: int) -> None:
    parameters = (OUT, COUNT, FLOATS_IN, FLOATS_OUT)
    launcher = make_launcher(body, parameters, runtime)
    conservative = make_launcher(body, parameters, runtime, aliased_ok=True)
    x = np.zeros(100, np.float32)
    grid = x.reshape(10, 10)
    cases = [
        (x, x, ALIASED),
        # a kernel may leave a view within the memory it was taken from
        (x[:50], x[50:], ALIASED),
        (x[49::-1], x[50:], ALIASED),
        (grid[:, :5], grid[:, 5:], ALIASED),
        (x[:0], x, ALIASED),
        (x.copy(), x[50:], OK),
        (x.copy()[::-2], grid[5:], OK),
        (None, x, OK),
    ]
    for read, written, status in cases:
        assert launcher((1, 1, 1), (None, 0, read, written)) == status
        assert conservative((1, 1, 1), (None, 0, read, written)) == OK


def test_reading_twice_is_no_overlap_but_writing_twice_is(runtime: Runtime, body: int) -> None:
    x = np.zeros(4, np.float32)
    assert make_launcher(body, (OUT, COUNT, FLOATS_IN, FLOATS_IN), runtime)((1, 1, 1), (None, 0, x, x)) == OK
    assert (
        make_launcher(body, (OUT, COUNT, FLOATS_OUT, FLOATS_OUT), runtime)((1, 1, 1), (None, 0, x, x))
        == ALIASED
    )


def test_aliased_launch_runs_nothing(runtime: Runtime, body: int) -> None:
    out = np.full(4, 9, np.uint64)
    read = Parameter("x", "pointer", itemsize=8)
    assert make_launcher(body, (OUT, COUNT, read), runtime)((1, 1, 1), (out, 1, out)) == ALIASED
    assert (out == 9).all()


def test_grid(runtime: Runtime, body: int) -> None:
    launcher = make_launcher(body, (OUT, COUNT), runtime)
    out = np.full(3, 9, np.uint64)
    assert launcher((2, 3, 4), (out, 0)) == OK
    assert out.tolist() == [2, 3, 4]
    out[:] = 9
    limit = 2**31 - 1
    for empty in [(0, 1, 1), (5, 0, 5), (limit, limit, 0)]:
        assert launcher(empty, (out, 0)) == OK
    assert out.tolist() == [9, 9, 9]
    assert fault(launcher, (out, 0), (limit, limit, limit)).index == GRID
    for bad in [(2**31, 1, 1), (-1, 1, 1), (1, 1), [1, 1, 1], (1.5, 1, 1), (2**70, 1, 1)]:
        assert fault(launcher, (out, 0), bad).index == GRID
    assert launcher((limit, 1, 1), (out, 0)) == OK


def test_wrong_number_of_arguments(runtime: Runtime, body: int) -> None:
    launcher = make_launcher(body, (OUT, COUNT), runtime)
    missing, extra = fault(launcher, (None,)), fault(launcher, (None, 0, 1))
    assert (missing.index, missing.reason) == (1, "is missing: the kernel takes 2 arguments, not 1")
    assert (extra.index, extra.reason) == (2, "is one too many: the kernel takes 2 arguments, not 3")


def test_many_parameters(runtime: Runtime, body: int) -> None:
    parameters = (OUT, COUNT, *(Parameter(f"n{i}", "int") for i in range(100)))
    out = np.zeros(103, np.uint64)
    assert make_launcher(body, parameters, runtime)((1, 1, 1), (out, 100, *range(100))) == OK
    assert out[3:].tolist() == list(range(100))


def test_buffers_are_released_after_success_and_after_a_fault(runtime: Runtime, body: int) -> None:
    launcher = make_launcher(body, (COUNT, COUNT, Parameter("x", "pointer"), COUNT), runtime)
    data = bytearray(8)
    with pytest.raises(ArgumentFault):
        launcher((1, 1, 1), (0, 0, data, "no"))
    launcher((0, 1, 1), (0, 0, data, 1))
    data.extend(b"more")  # BufferError while an export is alive


def test_an_error_of_the_argument_itself_passes_through(runtime: Runtime, body: int) -> None:
    class Broken:
        def data_ptr(self) -> int:
            raise MemoryError("storage is gone")

        is_cpu = True

    launcher = make_launcher(body, (COUNT, COUNT, FLOATS_IN), runtime)
    with pytest.raises(MemoryError, match="storage is gone"):
        launcher((1, 1, 1), (0, 0, Broken()))


def test_missing_symbol_or_file(runtime: Runtime, folder: Path, compiler: Compiler) -> None:
    with pytest.raises(OSError, match="body"):
        runtime.load_body(compile_shared("int other;", folder / "no_body.so", compiler=compiler))
    with pytest.raises(OSError, match="nothing"):
        runtime.load_body(folder / "nothing.so")


def test_load_runtime_is_kept(folder: Path, compiler: Compiler) -> None:
    assert load_runtime(folder, compiler) is load_runtime(folder, compiler)


def test_library_can_be_linked_by_others(runtime: Runtime) -> None:
    library = ctypes.CDLL(str(runtime.library))
    assert all(hasattr(library, name) for name in ("xdsl_run", "xdsl_launch", "xdsl_scratch"))


def test_threads_from_environment() -> None:
    assert threads_from_environment({}) == 0
    assert threads_from_environment({"XDSL_NUM_THREADS": " 3 "}) == 3
    for bad in ("0", "-1", "two", "1.5"):
        with pytest.raises(ValueError, match="XDSL_NUM_THREADS"):
            threads_from_environment({"XDSL_NUM_THREADS": bad})


@pytest.mark.parametrize("view", [BASE, BASE[::-1], BASE.reshape(6, 10)[1::2, ::-3], BASE[:0]], ids=str)
def test_byte_range_covers_every_element(view: np.ndarray[Any, Any]) -> None:
    address = view.__array_interface__["data"][0]
    low, high = byte_range(address, view.shape, view.strides, view.itemsize)
    starts = [address + sum(np.multiply(index, view.strides)) for index in np.ndindex(view.shape)]
    assert (low, high) == ((min(starts), max(starts) + view.itemsize) if starts else (address, address))
    own = view.copy()
    start = own.__array_interface__["data"][0]
    assert extent_of(own)[:3] == (start, start, start + own.nbytes)
    whole = BASE.__array_interface__["data"][0]
    assert extent_of(view)[:3] == (address, whole, whole + BASE.nbytes)
