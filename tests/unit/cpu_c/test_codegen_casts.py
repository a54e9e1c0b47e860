"""Every conversion between two element types gives the bits that the op's reference gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.cpu_c.kernels import Workshop, source_of
from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.interp import run
from xdsl_core.ir import Block, Builder, Function, Module, PointerType, Region, ScalarType, Value
from xdsl_core.opdef.sampling import special_values

pytestmark = pytest.mark.compiler

COUNT = 150
PLAIN = (("rtne", False),)
SPECIAL = (("rtz", False), ("rtne", True), ("rtz", True))
I32 = ScalarType(dtypes.i32)
Options = tuple[tuple[str, bool], ...]


def casts_of(source: DType, options: Options) -> list[tuple[str, DType, str, bool]]:
    """(parameter, dtype, rounding, saturate) of the casts from a dtype, those left out that options do not
    concern.
    """
    return [
        (f"{target}_{rounding}_{saturate}", target, rounding, saturate)
        for target in dtypes.ALL
        for rounding, saturate in options
        if target is not source
        and (rounding == "rtne" or (target.is_float and not source.is_bool))
        and not (saturate and (target.is_bool or source.is_bool))
    ]


def kernel(source: DType, options: Options, *, scalar: bool) -> Module:
    """Casts COUNT numbers to everything: as a tile, or one by one in a loop."""
    targets = casts_of(source, options)
    parameters = [("x", PointerType(source)), *((name, PointerType(to)) for name, to, _, _ in targets)]
    function = Function("casts", parameters)
    x, *outputs = function.parameters
    builder = Builder(function.block)

    def write(place: Any) -> None:
        number = builder.value(ops.Load, place(x))
        for output, (_, to, rounding, saturate) in zip(outputs, targets, strict=True):
            found = builder.value(ops.Cast, number, to=to, rounding=rounding, saturate=saturate)
            builder.build(ops.Store, place(output), found)

    if scalar:
        body = Block([I32], ["k"])
        with builder.at(body):
            write(lambda pointer: builder.value(ops.Offset, pointer, body.arguments[0]))
            builder.build(ops.Yield, [])
        bounds = [builder.value(ops.Constant, value=value, type=I32) for value in (0, COUNT, 1)]
        builder.build(ops.For, *bounds, [], regions=[Region([body])])
    else:
        lanes = builder.value(ops.Arange, start=0, end=COUNT)

        def spread(pointer: Value) -> Value:
            return builder.value(ops.Offset, builder.value(ops.Splat, pointer, shape=(COUNT,)), lanes)

        write(spread)
    builder.build(ops.Return)
    module = Module()
    module.add(function)
    return module


def numbers(source: DType) -> np.ndarray[Any, Any]:
    """Special values, numbers of every size, and neighbours of powers of two."""
    generator = np.random.default_rng(len(source.name))
    if source.is_bool:
        return generator.random(COUNT) < 0.5
    special = special_values(source)
    powers = 2.0 ** generator.integers(0, 64, COUNT)
    if source.is_float:
        wide = generator.choice([-1.0, 1.0], COUNT) * 2.0 ** generator.uniform(-150, 140, COUNT)
        near = powers * (
            1 + generator.choice([-1.0, 0.0, 1.0], COUNT) * 2.0 ** -generator.integers(2, 53, COUNT)
        )
        usual = np.where(generator.random(COUNT) < 0.5, wide, near * generator.choice([-1, 1], COUNT))
        with np.errstate(all="ignore"):
            found = usual.astype(source.numpy)
    else:
        low, high = int(source.lowest), int(source.highest)
        steps = generator.integers(-3, 4, COUNT)
        shifts = generator.integers(0, 40, COUNT)
        values = [
            (int(power) + int(step)) * (-1 if k % 2 and low < 0 else 1) + (1 << int(shift)) * (k % 3)
            for k, (power, step, shift) in enumerate(zip(powers, steps, shifts, strict=True))
        ]
        found = np.array([min(max(value, low), high) for value in values], source.numpy)
    found[: len(special)] = special
    return found


def is_undefined(values: np.ndarray[Any, Any], source: DType, target: DType, saturate: bool) -> Any:
    """Floats that lie outside an integer's range, which the op leaves open."""
    if not source.is_float or not target.is_integer or target.is_bool or saturate:
        return np.zeros(values.shape, bool)
    with np.errstate(all="ignore"):
        whole = np.trunc(values.astype(np.float64))
        inside = (whole >= float(target.lowest)) & (whole < 2.0 ** (target.bits - target.is_signed))
    return ~inside


def check(workshop: Workshop, sources: Sequence[DType], options: Options) -> list[str]:
    """What goes wrong, a line a cast."""
    forms = [(source, scalar) for source in sources for scalar in (False, True)]
    modules = [kernel(source, options, scalar=scalar) for source, scalar in forms]
    launchers = workshop.launchers([source_of(module) for module in modules], together=1)
    wrong = []
    for (source, scalar), module, variants in zip(forms, modules, launchers, strict=True):
        x, casts = numbers(source), casts_of(source, options)
        expected = [np.zeros(COUNT, to.numpy) for _, to, _, _ in casts]
        run(module, (1,), [x, *expected])
        got = [np.zeros(COUNT, to.numpy) for _, to, _, _ in casts]
        variants[0]((1, 1, 1), (x, *got))
        for found, wanted, (name, to, _, saturate) in zip(got, expected, casts, strict=True):
            bad = np.flatnonzero(~same(found, wanted, to) & ~is_undefined(x, source, to, saturate))
            if bad.size:
                k, form = bad[0], "scalar" if scalar else "tile"
                wrong.append(f"{source} to {name}, {form}: {x[k]!r} gave {found[k]!r}, not {wanted[k]!r}")
    return wrong


def same(found: Any, wanted: Any, dtype: DType) -> Any:
    with np.errstate(all="ignore"):
        if not dtype.is_float:
            return found == wanted
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
        equal = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
        return equal | (np.isnan(found) & np.isnan(wanted))


# Where numbers are rounded twice or out of range; samples of the op (test_codegen_ops) have every pair once.
HARDEST = (dtypes.f64, dtypes.f16, dtypes.i64, dtypes.u32)


@pytest.mark.parametrize("source", HARDEST, ids=str)
def test_casts(source: DType, workshop: Workshop) -> None:
    assert not check(workshop, [source], PLAIN + SPECIAL[:2])


@pytest.mark.slow
@pytest.mark.parametrize("source", dtypes.ALL, ids=str)
def test_all_casts(source: DType, workshop: Workshop) -> None:
    assert not check(workshop, [source], PLAIN + SPECIAL)
