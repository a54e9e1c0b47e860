"""Random numbers by counter, written in the language itself: Philox 4x32 and 4x64, and what is drawn from it.

The generator is that of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with the
constants of its library Random123. How seeds and offsets become keys and counters, and words become floats,
is as in Triton's `triton.language.random`: the same seed and offset give the same words.
"""

from __future__ import annotations

from typing import Any

from xdsl_core.language import math
from xdsl_core.language.builtin import constexpr_function, standard
from xdsl_core.language.creation import full, to_tensor
from xdsl_core.language.debug import static_assert
from xdsl_core.language.elementwise import add, maximum, mul, where
from xdsl_core.language.iterators import static_range
from xdsl_core.language.types import int32, int64, uint32, uint64
from xdsl_core.language.values import constexpr

N_ROUNDS_DEFAULT = constexpr(10)

# by width of a word: multipliers of words 0 and 2, then what is added to the two key words each round
_PHILOX_CONSTANTS = {
    32: (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
    64: (0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
}

# the greatest float32 whose product with the greatest signed integer of the width stays below 1
_UNIFORM_SCALES = {32: 4.6566127342e-10, 64: 1.0842020432385337e-19}


@constexpr_function
def _philox_constant(width: int, index: int) -> int:
    return _PHILOX_CONSTANTS[width][index]


@constexpr_function
def _has_constants(width: int) -> bool:
    return width in _PHILOX_CONSTANTS


@constexpr_function
def _is_word(dtype: Any) -> bool:
    return dtype in (uint32, uint64)


@constexpr_function
def _uniform_scale(width: int) -> float:
    return _UNIFORM_SCALES[width]


@standard
def philox_impl(  # noqa: PLR0917 (Triton's signature)
    c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT
) -> Any:
    """The four words that `n_rounds` rounds make of the counter (c0 to c3) under the key (k0, k1).

    All words are of one dtype, uint32 or uint64.
    """
    static_assert(_is_word(c0.dtype), "tl.philox_impl: the counter must be uint32 or uint64")
    width: constexpr = c0.dtype.primitive_bitwidth
    for _ in static_range(n_rounds):
        first, third = c0, c2
        c0 = math.umulhi(_philox_constant(width, 1), third) ^ c1 ^ k0
        c2 = math.umulhi(_philox_constant(width, 0), first) ^ c3 ^ k1
        c1 = mul(_philox_constant(width, 1), third, sanitize_overflow=False)
        c3 = mul(_philox_constant(width, 0), first, sanitize_overflow=False)
        k0 = add(k0, _philox_constant(width, 2), sanitize_overflow=False)
        k1 = add(k1, _philox_constant(width, 3), sanitize_overflow=False)
    return c0, c1, c2, c3


@standard
def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """Four unsigned words of the width of c0 (32 or 64 bits) for an integer seed and a counter.

    With words of 32 bits the seed's low and high halves are the key, else the seed and 0.
    """
    words = to_tensor(seed)
    static_assert(words.dtype.is_int(), "tl.philox: the seed must be an integer")
    words = words.to(uint64)
    c0 = to_tensor(c0)
    static_assert(
        _has_constants(c0.dtype.primitive_bitwidth),
        "tl.philox: the counter must have 32 or 64 bits",
    )
    if c0.dtype.primitive_bitwidth == 32:
        word = uint32
        low = (words & 0xFFFFFFFF).to(uint32)
        high = ((words >> 32) & 0xFFFFFFFF).to(uint32)
    else:
        word = uint64
        low = words
        high = full((1,), 0, uint64)
    return philox_impl(
        c0.to(word, bitcast=True),
        to_tensor(c1).to(word, bitcast=True),
        to_tensor(c2).to(word, bitcast=True),
        to_tensor(c3).to(word, bitcast=True),
        low,
        high,
        n_rounds,
    )


@standard
def randint4x(seed: Any, offset: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """Four tiles of random uint32 of the offset's shape; an offset of 64 bits fills two counter words."""
    low = offset.to(uint32)
    zero = low * 0
    high = (offset >> 32).to(uint32) if offset.dtype.primitive_bitwidth > 32 else zero
    return philox(seed, low, high, zero, zero, n_rounds)


@standard
def randint(seed: Any, offset: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """A tile of random uint32 of the offset's shape: the first of `randint4x`."""
    first, _, _, _ = randint4x(seed, offset, n_rounds)
    return first


@standard
def uint_to_uniform_float(x: Any) -> Any:
    """float32 in [0, 1) from integers of 32 or 64 bits, whose bits are read as signed."""
    width: constexpr = x.dtype.primitive_bitwidth
    static_assert(
        x.dtype.is_int() and _has_constants(width),
        "tl.uint_to_uniform_float: x must be an integer of 32 or 64 bits",
    )
    bits = x.to(int32 if width == 32 else int64, bitcast=True)
    return where(bits < 0, ~bits, bits) * _uniform_scale(width)


@standard
def rand4x(seed: Any, offsets: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """Four tiles of float32, uniform in [0, 1), of the shape of the offsets."""
    i0, i1, i2, i3 = randint4x(seed, offsets, n_rounds)
    return (
        uint_to_uniform_float(i0),
        uint_to_uniform_float(i1),
        uint_to_uniform_float(i2),
        uint_to_uniform_float(i3),
    )


@standard
def rand(seed: Any, offset: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """A tile of float32, uniform in [0, 1), of the offset's shape: the first of `rand4x`."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@standard
def pair_uniform_to_normal(u1: Any, u2: Any) -> Any:
    """Two tiles of normal numbers from two of uniform ones, by Box and Muller; u1 counts from 1e-7 on."""
    angle = 6.283185307179586 * u2
    radius = math.sqrt(-2.0 * math.log(maximum(1.0e-7, u1)))
    return radius * math.cos(angle), radius * math.sin(angle)


@standard
def randn(seed: Any, offset: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """A tile of float32 of mean 0 and variance 1, normal, of the offset's shape: the first of `randn4x`."""
    i0, i1, _, _ = randint4x(seed, offset, n_rounds)
    normal, _ = pair_uniform_to_normal(uint_to_uniform_float(i0), uint_to_uniform_float(i1))
    return normal


@standard
def randn4x(seed: Any, offset: Any, n_rounds: constexpr = N_ROUNDS_DEFAULT) -> Any:
    """Four tiles of float32 of mean 0 and variance 1, normal, of the offset's shape."""
    u0, u1, u2, u3 = rand4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(u0, u1)
    n2, n3 = pair_uniform_to_normal(u2, u3)
    return n0, n1, n2, n3
