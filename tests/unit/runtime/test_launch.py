"""Launches: binding, specialisation, grids, wrong arguments, observers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.runtime.fakes import ClosureBackend, ModuleKernel, memory
from xdsl_core import dtypes
from xdsl_core.backend import Launch, Pointer, default_registry, hookimpl
from xdsl_core.diagnostics import BackendError, CompilationError, LaunchError
from xdsl_core.frontend.specs import Constant, PointerSpec, ScalarSpec
from xdsl_core.language.values import constexpr
from xdsl_core.runtime.specialise import ParameterRule

X, Y, N = ParameterRule("x"), ParameterRule("y"), ParameterRule("n")
BLOCK = ParameterRule("BLOCK", constexpr=True)


def kernel(*rules: ParameterRule, **settings: Any) -> ModuleKernel:
    return ModuleKernel("copy", *(rules or (X, Y, N, BLOCK)), **settings)


def array(count: int = 8, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """An array whose address is a multiple of 16."""
    raw = np.zeros(count * np.dtype(dtype).itemsize + 16, np.uint8)
    start = -raw.ctypes.data % 16
    return raw[start : start + count * np.dtype(dtype).itemsize].view(dtype)


def test_arguments_reach_the_backend(backend: ClosureBackend) -> None:
    x, y = array(), array()
    done = kernel()[(3, 2)](x, y, n=40, BLOCK=64)
    assert backend.launches == [((3, 2, 1), (x.ctypes.data, y.ctypes.data, 40))]
    assert done is not None
    assert done.parameters == ("x", "y", "n")
    assert done.specs == {
        "x": PointerSpec(dtypes.f32, True),
        "y": PointerSpec(dtypes.f32, True),
        "n": ScalarSpec(dtypes.i32, False),
        "BLOCK": Constant(64),
    }


def test_second_launch_compiles_nothing(backend: ClosureBackend) -> None:
    copy, x = kernel(), array()
    for n in (32, 48, 64):
        copy[(1,)](x, x, n, BLOCK=64)
    assert (len(copy.built), backend.compiled) == (1, 1)
    assert [values[2] for _, values in backend.launches] == [32, 48, 64]


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (1, Constant(1)),
        (True, ScalarSpec(dtypes.i1)),
        (0, ScalarSpec(dtypes.i32, True)),
        (5, ScalarSpec(dtypes.i32)),
        (-16, ScalarSpec(dtypes.i32, True)),
        (2**31 - 1, ScalarSpec(dtypes.i32)),
        (2**31, ScalarSpec(dtypes.i64, True)),
        (-(2**31) - 1, ScalarSpec(dtypes.i64)),
        (2**63, ScalarSpec(dtypes.u64, True)),
        (2.5, ScalarSpec(dtypes.f32)),
        (1.0, ScalarSpec(dtypes.f32)),
        (np.int64(1), Constant(1)),
        (np.int16(7), ScalarSpec(dtypes.i32)),
        (np.float64(7), ScalarSpec(dtypes.f32)),
        (np.bool_(1), ScalarSpec(dtypes.i1)),
        (constexpr(5), Constant(5)),
        (None, Constant(None)),
    ],
    ids=repr,
)
def test_scalars_are_specialised_as_in_triton(backend: ClosureBackend, value: Any, spec: Any) -> None:
    copy = kernel(X, N)
    for _ in range(2):
        done = copy[(1,)](array(), value)
    assert done is not None
    assert done.specs["n"] == spec
    assert len(copy.built) == 1
    assert len(backend.launches[0][1]) == (1 if isinstance(spec, Constant) else 2)


def test_values_that_compile_differently_are_kept_apart(backend: ClosureBackend) -> None:
    copy, x = kernel(X, N, BLOCK), array()
    launches = [
        (1, 2),
        (True, 2),
        (1.0, 2),
        (5, 2),
        (5, True),
        (5, 1),
        (5, 1.0),
        (5, 0.0),
        (5, -0.0),
        (None, 2),
    ]
    for n, block in launches:
        copy[(1,)](x, n, BLOCK=block)
    assert len(copy.built) == len(launches)
    for n, block in launches:
        copy[(1,)](x, n, BLOCK=block)
    assert len(copy.built) == len(launches)


def test_dtype_and_alignment_of_arrays_are_specialised(backend: ClosureBackend) -> None:
    copy, x = kernel(X, N), array(9)
    for value in (x, x[1:], x.view(np.int32), array(4, np.float16), x):
        copy[(1,)](value, 5)
    assert [specs["x"] for specs in copy.built] == [
        PointerSpec(dtypes.f32, True),
        PointerSpec(dtypes.f32, False),
        PointerSpec(dtypes.i32, True),
        PointerSpec(dtypes.f16, True),
    ]


def test_do_not_specialize(backend: ClosureBackend) -> None:
    copy = kernel(X, ParameterRule("n", specialise=False), ParameterRule("m", specialise_alignment=False))
    for n, m in ((1, 16), (16, 17), (3, 32)):
        copy[(1,)](array(), n, m)
    assert [(specs["n"], specs["m"]) for specs in copy.built] == [
        (ScalarSpec(dtypes.i32), ScalarSpec(dtypes.i32))
    ]
    copy[(1,)](array(), 5, 1)
    assert copy.built[-1]["m"] == Constant(1)


@pytest.mark.parametrize(
    ("dtype", "value", "passed"),
    [
        (dtypes.i64, 5, 5),
        (dtypes.i64, 1, 1),
        (dtypes.u8, 255, 255),
        (dtypes.i8, np.int64(-128), -128),
        (dtypes.f64, 2, 2.0),
        (dtypes.f32, np.float32(0.5), 0.5),
        (dtypes.i32, True, 1),
        (dtypes.i1, 1, 1),
    ],
)
def test_annotated_scalars_keep_their_type(
    backend: ClosureBackend, dtype: Any, value: Any, passed: Any
) -> None:
    copy = kernel(ParameterRule("n", dtype=dtype))
    for _ in range(2):
        done = copy[(1,)](value)
    assert done is not None
    spec = done.specs["n"]
    assert isinstance(spec, ScalarSpec)
    assert spec.dtype is dtype
    assert [values for _, values in backend.launches] == [(passed,)] * 2
    assert type(backend.launches[0][1][0]) is type(passed)


@pytest.mark.parametrize(
    ("rule", "value", "code", "words"),
    [
        (X, [1.0, 2.0], "X0505", "argument 'x' is [1.0, 2.0], of type list"),
        (X, "text", "X0505", "argument 'x' is 'text', of type str"),
        (X, memoryview(b"ab"), "X0505", "of type memoryview"),
        (X, memoryview(bytearray(2)), "X0505", "pass numpy.asarray(x)"),
        (X, {1: 2}, "X0505", "of type dict"),
        (X, np.zeros(3, np.complex64), "X0506", "argument 'x' has elements of type complex64"),
        (X, np.zeros(3, ">f4"), "X0506", "elements of type >f4"),
        (X, np.array(["a"]), "X0506", "elements of type <U1"),
        (X, 2**64, "X0509", "argument 'x' is 18446744073709551616"),
        (BLOCK, [4, 8], "X0510", "constexpr argument 'BLOCK' is [4, 8], a list: it cannot be hashed"),
        (ParameterRule("n", dtype=dtypes.i32), 2**31, "X0509", "argument 'n' is 2147483648"),
        (ParameterRule("n", dtype=dtypes.u32), -1, "X0509", "argument 'n' is -1"),
        (ParameterRule("n", dtype=dtypes.i32), 2.5, "X0509", "annotated with i32"),
        (ParameterRule("n", dtype=dtypes.i32), np.zeros(3, np.int32), "X0505", "annotated with i32"),
        (ParameterRule("n", dtype=dtypes.f32), "1", "X0505", "annotated with f32"),
    ],
)
def test_wrong_argument_names_the_parameter(
    backend: ClosureBackend, rule: ParameterRule, value: Any, code: str, words: str
) -> None:
    copy = kernel(rule)
    for _ in range(2):
        with pytest.raises(LaunchError) as caught:
            copy[(1,)](**{rule.name: value})
        assert caught.value.code == code
        assert words in str(caught.value)
        assert isinstance(caught.value, TypeError)
    assert not backend.launches


@pytest.mark.parametrize(
    ("args", "meta", "code", "words"),
    [
        ((), {"BLOCK": 4}, "X0503", "argument 'x' is missing"),
        ((0, 0, 0), {}, "X0503", "constexpr argument 'BLOCK' is missing"),
        ((0, 0, 0, 4, 5), {}, "X0504", "copy takes 4 arguments, but 5 were given"),
        ((0, 0, 0), {"BLOK": 4, "BLOCK": 4}, "X0504", "did you mean 'BLOCK'?"),
        ((0, 0, 0), {"BLOCK": 4, "num_warp": 2}, "X0504", "did you mean 'num_warps'?"),
    ],
)
def test_missing_and_extra_arguments(
    backend: ClosureBackend, args: Any, meta: dict[str, Any], code: str, words: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        kernel()[(1,)](*args, **meta)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_defaults_are_used(backend: ClosureBackend) -> None:
    done = kernel(defaults={"n": 7, "BLOCK": 32})[(1,)](array(), array())
    assert done is not None
    assert (done.specs["n"], done.specs["BLOCK"]) == (ScalarSpec(dtypes.i32), Constant(32))
    assert backend.launches[0][1][2] == 7


@pytest.mark.parametrize("grid", [(0,), (3, 0, 2), [0], lambda meta: (meta["n"] - 5,)], ids=range(4))
def test_zero_in_the_grid_runs_nothing_cold_and_warm(backend: ClosureBackend, grid: Any) -> None:
    copy = kernel()
    for _ in range(2):
        assert copy[grid](array(), array(), 5, BLOCK=4) is None
        copy[(1,)](array(), array(), 5, BLOCK=4)
    assert [extents for extents, _ in backend.launches] == [(1, 1, 1)] * 2


@pytest.mark.parametrize(
    ("grid", "extents"),
    [
        ([2], (2, 1, 1)),
        ((1, 2, 3), (1, 2, 3)),
        ((np.int64(4),), (4, 1, 1)),
        (lambda meta: (meta["n"] // meta["BLOCK"], meta["num_warps"]), (2, 8, 1)),
        (lambda meta: 6, (6, 1, 1)),
    ],
)
def test_grids(backend: ClosureBackend, grid: Any, extents: tuple[int, ...]) -> None:
    kernel()[grid](array(), array(), 8, BLOCK=4, num_warps=8)
    assert backend.launches[0][0] == extents


@pytest.mark.parametrize(
    ("grid", "code", "words"),
    [
        (4, "X0501", "write kernel[(4,)]"),
        ((), "X0501", "the grid of copy is ()"),
        ((1, 2, 3, 4), "X0501", "one to three integers"),
        ("4", "X0501", "of type str"),
        (None, "X0501", "of type NoneType"),
        ((2, -1), "X0502", "extent 1 of the grid of copy is -1"),
        ((2.0,), "X0502", "xdsl.cdiv"),
        ((2**31,), "X0502", "2147483648"),
    ],
    ids=range(8),
)
def test_wrong_grid_is_a_type_error(backend: ClosureBackend, grid: Any, code: str, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        kernel()[grid](array(), array(), 8, BLOCK=4)
    assert isinstance(caught.value, LaunchError)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_options_choose_another_kernel(backend: ClosureBackend) -> None:
    copy, x = kernel(), array()
    first = copy[(1,)](x, x, 5, BLOCK=4, num_warps=8)
    second = copy[(1,)](x, x, 5, BLOCK=4)
    assert copy[(1,)](x, x, 5, BLOCK=4, num_warps=8) is first
    assert first is not None
    assert second is not None
    assert (first.options.num_warps, second.options.num_warps) == (8, 4)
    with pytest.raises(BackendError) as caught:
        copy[(1,)](x, x, 5, BLOCK=4, num_warps="8")
    assert caught.value.code == "X0607"


def test_read_only_array_is_refused_only_where_it_is_written(backend: ClosureBackend) -> None:
    copy, x, frozen = kernel(reads=("x",), writes=("y",)), array(), array()
    frozen.flags.writeable = False
    for _ in range(2):
        with pytest.raises(LaunchError, match="copy writes to argument 'y', which is read-only") as caught:
            copy[(1,)](x, frozen, 5, BLOCK=4)
        assert caught.value.code == "X0508"
        copy[(1,)](frozen, x, 5, BLOCK=4)
    assert len(backend.launches) == 2


def test_unclaimed_dtype_is_refused_before_anything_runs(backend: ClosureBackend) -> None:
    with pytest.raises(
        CompilationError, match=r"closure does not claim op memory\.load for dtype f64"
    ) as caught:
        kernel(reads=("x",))[(1,)](array(8, np.float64), array(), 5, BLOCK=4)
    assert caught.value.code == "X0610"
    assert not backend.launches


def test_parameters_may_have_the_names_of_builtins(backend: ClosureBackend) -> None:
    names = ("len", "int", "tuple", "callable", "launch", "np", "grid", "table")
    copy = kernel(*map(ParameterRule, names))
    copy[(2,)](*range(2, 10))
    assert backend.launches == [((2, 1, 1), tuple(range(2, 10)))]


def test_kernel_without_parameters(backend: ClosureBackend) -> None:
    empty = ModuleKernel("empty")
    empty[(2,)]()
    assert backend.launches == [((2, 1, 1), ())]


def test_kernel_writes_to_the_array_itself(backend: ClosureBackend) -> None:
    def fill(grid: Any, values: Any, constants: Any) -> None:
        memory(values[0], values[1])[:] = constants["BLOCK"]

    backend.body = fill
    x = array(4)
    kernel(X, N, BLOCK)[(1,)](x, 4, BLOCK=9)
    assert x.tolist() == [9, 9, 9, 9]


class Tracer:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    @hookimpl
    def xdsl_launch_finished(self, backend: str, kernel: str, grid: Any, launch: Launch) -> None:
        self.seen.append((backend, kernel, grid, launch.extra["args"]))


def test_observed_launch_goes_through_the_hook_with_full_pointers(backend: ClosureBackend) -> None:
    copy, x, tracer = kernel(), array(10), Tracer()
    copy[(1,)](x[2:], None, 5, BLOCK=4)
    default_registry().add_plugin(tracer, name="tracer")
    copy[(1,)](x[2:], None, 5, BLOCK=4)
    default_registry().remove_plugin("tracer")
    copy[(1,)](x[2:], None, 5, BLOCK=4)
    assert len(backend.launches) == 3
    ((name, kernel_name, grid, args),) = tracer.seen
    assert (name, kernel_name, grid) == ("closure", "copy", (1, 1, 1))
    pointer, n = args
    assert isinstance(pointer, Pointer)
    assert (pointer.name, pointer.address, pointer.dtype, n) == ("x", x.ctypes.data + 8, dtypes.f32, 5)
    assert pointer.storage_address <= x.ctypes.data
    assert pointer.storage_bytes == x.base.nbytes


def test_backend_without_direct_is_launched_by_its_hook(backend: ClosureBackend) -> None:
    backend.direct = False
    kernel()[(4,)](array(), array(), 5, BLOCK=4)
    assert backend.launches[0][0] == (4, 1, 1)


def test_guard_recompiles_when_a_global_changes(backend: ClosureBackend) -> None:
    names = {"SCALE": 2}
    copy = kernel(X, guards=lambda: ((names, "SCALE", names["SCALE"]),), key="scale 2")
    copy[(1,)](array())
    copy[(1,)](array())
    assert len(copy.built) == 1
    names["SCALE"], copy.key = 3, "scale 3"
    copy[(1,)](array())
    assert len(copy.built) == 2
    names["SCALE"], copy.key = 2, "scale 2"
    copy[(1,)](array())
    assert len(copy.built) == 2


def test_on_binds_a_target(backend: ClosureBackend) -> None:
    copy = kernel()
    there = copy.on("closure:there")[(1,)](array(), array(), 5, BLOCK=4)
    here = copy[(1,)](array(), array(), 5, BLOCK=4)
    assert there is not None
    assert here is not None
    assert (there.target.name, here.target.name) == ("there", "here")
    assert copy.on("closure")[(1,)](array(), array(), 5, BLOCK=4) is here
    with pytest.raises(BackendError) as caught:
        copy.on("clozure")
    assert caught.value.code == "X0601"


def test_compile_takes_stand_ins_for_arguments(backend: ClosureBackend) -> None:
    copy = kernel(reads=("x",))
    done = copy.compile(dtypes.f16, PointerSpec(dtypes.i8), ScalarSpec(dtypes.i64), BLOCK=4, num_warps=2)
    assert done.specs["x"] == PointerSpec(dtypes.f16, True)
    assert list(done.stages) == ["tile", "closure"]
    assert "memory.load" in done.stages["tile"]
    assert copy.warmup(np.dtype("float16"), array(), 5, grid=(1,), BLOCK=4).specs["x"] == done.specs["x"]
    assert not backend.launches


def test_profile_gives_the_backends_or_the_wall_time(backend: ClosureBackend) -> None:
    copy = kernel()
    profile = copy.profile((2,), array(), array(), 5, BLOCK=4)
    assert profile is not None
    assert profile.seconds is not None
    backend.cycles = lambda constants: 100 * constants["BLOCK"]
    profile = copy.profile((2,), array(), array(), n=5, BLOCK=4)
    assert profile is not None
    assert profile.cycles == 400
    assert copy.profile((0,), array(), array(), 5, BLOCK=4) is None
