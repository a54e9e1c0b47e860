"""How functions of the language are defined, and that Triton's names and signatures are kept."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.language.running import build, evaluate
from xdsl_core import ops
from xdsl_core.diagnostics import CompilationError
from xdsl_core.language.builtin import Builtin, ConstexprFunction, Standard, plain
from xdsl_core.language.context import Context
from xdsl_core.language.values import Operand, tensor

# triton.language of Triton 3.9, without what it adds for block pointers; 3.4's boundary_check is kept
SIGNATURES = {
    "add": "(x, y, sanitize_overflow=True)",
    "arange": "(start, end)",
    "argmax": "(input, axis, tie_break_left=True, keep_dims=False)",
    "argmin": "(input, axis, tie_break_left=True, keep_dims=False)",
    "associative_scan": "(input, axis, combine_fn, reverse=False)",
    "assume": "(cond)",
    "atomic_add": "(pointer, val, mask=None, sem=None, scope=None)",
    "atomic_and": "(pointer, val, mask=None, sem=None, scope=None)",
    "atomic_cas": "(pointer, cmp, val, sem=None, scope=None)",
    "atomic_max": "(pointer, val, mask=None, sem=None, scope=None)",
    "atomic_min": "(pointer, val, mask=None, sem=None, scope=None)",
    "atomic_or": "(pointer, val, mask=None, sem=None, scope=None)",
    "atomic_xchg": "(pointer, val, mask=None, sem=None, scope=None)",
    "atomic_xor": "(pointer, val, mask=None, sem=None, scope=None)",
    "broadcast": "(input, other)",
    "broadcast_to": "(input, *shape)",
    "cast": "(input, dtype, fp_downcast_rounding=None, bitcast=False)",
    "cdiv": "(x, div)",
    "cumprod": "(input, axis=0, reverse=False, dtype=None)",
    "cumsum": "(input, axis=0, reverse=False, dtype=None)",
    "debug_barrier": "()",
    "device_assert": "(cond, msg='', mask=None)",
    "device_print": "(prefix, *args, hex=False)",
    "div_rn": "(x, y)",
    "dot": "(input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, "
    "out_dtype=None)",
    "exp": "(x)",
    "expand_dims": "(input, axis)",
    "fdiv": "(x, y, ieee_rounding=False, approx=False)",
    "flip": "(x, dim=None)",
    "fma": "(x, y, z)",
    "full": "(shape, value, dtype)",
    "load": "(pointer, mask=None, other=None, boundary_check=(), padding_option='', cache_modifier='', "
    "eviction_policy='', volatile=False)",
    "max": "(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False)",
    "max_constancy": "(input, values)",
    "max_contiguous": "(input, values)",
    "min": "(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False)",
    "multiple_of": "(input, values)",
    "num_programs": "(axis)",
    "pair_uniform_to_normal": "(u1, u2)",
    "permute": "(input, *dims)",
    "philox": "(seed, c0, c1, c2, c3, n_rounds=constexpr[10])",
    "philox_impl": "(c0, c1, c2, c3, k0, k1, n_rounds=constexpr[10])",
    "program_id": "(axis)",
    "rand": "(seed, offset, n_rounds=constexpr[10])",
    "rand4x": "(seed, offsets, n_rounds=constexpr[10])",
    "randint": "(seed, offset, n_rounds=constexpr[10])",
    "randint4x": "(seed, offset, n_rounds=constexpr[10])",
    "randn": "(seed, offset, n_rounds=constexpr[10])",
    "randn4x": "(seed, offset, n_rounds=constexpr[10])",
    "ravel": "(x, can_reorder=False)",
    "reduce": "(input, axis, combine_fn, keep_dims=False)",
    "reduce_or": "(input, axis=None, keep_dims=False)",
    "reshape": "(input, *shape, can_reorder=False)",
    "sigmoid": "(x)",
    "softmax": "(x, dim=None, *, keep_dims=None, ieee_rounding=False)",
    "squeeze": "(x, dim)",
    "static_assert": "(cond, msg=None)",
    "static_print": "(*values, sep=' ', end='\\n', file=None, flush=False)",
    "store": "(pointer, value, mask=None, boundary_check=(), cache_modifier='', eviction_policy='')",
    "sum": "(input, axis=None, keep_dims=False, dtype=None)",
    "swizzle2d": "(i, j, size_i, size_j, size_g)",
    "trans": "(input, *dims)",
    "uint_to_uniform_float": "(x)",
    "umulhi": "(x, y)",
    "unsqueeze": "(x, dim)",
    "view": "(input, *shape)",
    "where": "(condition, x, y)",
    "xor_sum": "(input, axis=None, keep_dims=False)",
    "zeros": "(shape, dtype)",
    "zeros_like": "(input)",
}
FUNCTIONS = {
    name: value
    for name, value in vars(tl).items()
    if isinstance(value, Builtin | Standard | ConstexprFunction) and name in tl.__all__
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    function = getattr(tl, name)
    signature = inspect.signature(function.function if isinstance(function, Standard) else function)
    assert plain(signature) == SIGNATURES[name]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_is_documented(name: str) -> None:
    doc = inspect.getdoc(FUNCTIONS[name])
    assert doc
    assert doc.splitlines()[0].endswith((".", ")", "."))
    assert name in repr(FUNCTIONS[name]) or isinstance(FUNCTIONS[name], ConstexprFunction)


@pytest.mark.parametrize("name", sorted(name for name, one in FUNCTIONS.items() if isinstance(one, Builtin)))
def test_every_parameter_has_a_converter(name: str) -> None:
    assert set(FUNCTIONS[name].converters) == set(inspect.signature(FUNCTIONS[name]).parameters)


def test_all_names_exist() -> None:
    assert len(tl.__all__) == len(set(tl.__all__))
    assert [name for name in tl.__all__ if not hasattr(tl, name)] == []


def test_functions_cannot_be_called_outside_kernels() -> None:
    for call in (lambda: tl.arange(0, 8), lambda: list(tl.static_range(4)), lambda: list(tl.range(4))):
        with pytest.raises(CompilationError) as caught:
            call()
        assert caught.value.code == "X0101"


def test_functions_on_numbers_work_outside_kernels() -> None:
    assert tl.cdiv(10, 4) == 3
    assert [tl.next_power_of_2(n) for n in (0, 1, 2, 3, 17)] == [1, 1, 2, 4, 32]


def test_adding_a_function_is_one_definition() -> None:
    @tl.builtin
    def scaled_sum(context: Context, x: tensor, y: Operand, *more: tensor, times: int = 2) -> tensor:
        """times * (x + y + ...)."""
        total = tl.add.apply(context, (x, y), {})
        for one in more:
            total = tl.add.apply(context, (total, one), {})
        return context.emit(ops.Mul, total, tl.full.apply(context, (total.shape, times, total.dtype), {}))

    x = np.arange(4, dtype=np.int32)
    assert evaluate("scaled_sum(x, 1)", x, scaled_sum=scaled_sum).tolist() == [2, 4, 6, 8]
    assert evaluate("scaled_sum(x, x, x, x, times=3)", x, scaled_sum=scaled_sum).tolist() == [0, 12, 24, 36]


def test_constexpr_functions_take_compile_time_values_only() -> None:
    @tl.constexpr_function
    def half(n):
        return n // 2

    def good(x, N: tl.constexpr):
        tl.store(x + tl.arange(0, half(N)), 0.0)

    def bad(x, n):
        tl.store(x, half(n))

    build(good, np.zeros(4, np.float32), 8)
    with pytest.raises(CompilationError) as caught:
        build(bad, np.zeros(4, np.float32), 8)
    assert caught.value.code == "X0111"


def test_constexpr_arithmetic_is_pythons() -> None:
    two, seven = tl.constexpr(2), tl.constexpr(tl.constexpr(7))
    results = [seven // two, -seven // 2, seven % two, 7 / two, two**3, 2**two, seven << 1, seven > two, -two]
    assert [result.value for result in results] == [3, -4, 1, 3.5, 8, 4, 14, True, -2]
    assert bool(seven == 7)
    assert list(range(two)) == [0, 1]
    assert tl.constexpr((1, 2))[0] == 1
    assert hash(two) == hash(2)


def test_dtypes_answer_like_tritons() -> None:
    assert str(tl.float16) == "fp16"
    assert tl.float16.is_floating()
    assert tl.float16.is_fp16()
    assert not tl.float16.is_fp32()
    assert tl.int1.is_bool()
    assert tl.int1.is_int_unsigned()
    assert tl.uint8.primitive_bitwidth == 8
    assert tl.int32.itemsize == 4
    assert tl.int16.get_int_max_value() == 32767
    assert (tl.bfloat16.fp_mantissa_width, tl.float32.exponent_bias, tl.float16.exponent_bias) == (7, 127, 15)
    assert tl.float8e4nv.is_fp8()
    assert not tl.float8e5.is_standard_floating()
    pointer = tl.pointer_type(tl.float32)
    assert pointer.is_ptr()
    assert pointer.element_ty == tl.float32
    assert pointer == tl.pointer_type(tl.float32)
    assert pointer != tl.pointer_type(tl.int32)
    assert tl.block_type(tl.float32, [4, 2]).numel == 8
    assert tl.dtype("fp32") == tl.float32
    assert len({tl.float32, tl.dtype("fp32"), tl.int32}) == 2
    with pytest.raises(ValueError, match="fp32"):
        tl.dtype("float")


def test_types_of_tensors() -> None:
    def kernel(x, n):
        tile = tl.load(x + tl.arange(0, 8)[:, None])
        tl.static_assert(x.dtype.element_ty == tl.float16 and x.type.is_ptr())
        tl.static_assert(tile.type.is_block() and tile.type.scalar == tl.float16 and tile.dtype == tl.float16)
        tl.static_assert(tile.shape == (8, 1) and tile.shape[0] == 8 and tile.numel == 8)
        tl.static_assert(n.dtype == tl.int32 and n.shape == () and not n.type.is_block())
        tl.static_assert(isinstance(tile, tl.tensor) and isinstance(4, tl.constexpr))
        tl.static_assert(not isinstance(n, tl.constexpr))
        tl.static_assert(getattr(tile, "dtype") == tl.float16 and hasattr(tile, "shape"))  # noqa: B009

    build(kernel, np.zeros(8, np.float16), 3)
