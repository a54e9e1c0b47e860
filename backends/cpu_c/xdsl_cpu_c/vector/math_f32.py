"""Elementary functions of f32 vectors as polynomials.

Coefficients are minimax fits (weighted for relative error, rounded to f32 from the lowest power up and
refitted after each rounding).  Fused multiply-adds are written out: no result hangs on contraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl_cpu_c.vector.elements import ELEMENTS, LANES, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, function

# 2^k as a product of two powers of two, so that results below the smallest normal number are rounded once.
SCALE = """
I half = I.shr(k, I.splat(1));
I rest = I.sub(k, half);
F low = bitcast_I_F(I.shl(I.add(half, I.splat(127)), I.splat(23)));
F high = bitcast_I_F(I.shl(I.add(rest, I.splat(127)), I.splat(23)));
return F.mul(F.mul(x, low), high);
"""

# exp(x) = 2^k exp(r), |r| <= ln(2) / 2.  The clamp keeps NaN and lets results reach 0 and infinity.
EXP = """
x = F.max_fast(F.splat(-104.0f), F.min_fast(F.splat(89.0f), x));
F magic = F.splat(0x1.8p+23f);
F shifted = F.fma(x, F.splat(0x1.715476p+0f), magic);
F k = F.sub(shifted, magic);
F r = F.fma(k, F.splat(-0x1.62e43p-1f), x);
r = F.fma(k, F.splat(0x1.05c61p-29f), r);
F p = F.fma(r, F.splat(0x1.6a4d58p-10f), F.splat(0x1.12398ep-7f));
p = F.fma(p, r, F.splat(0x1.5558bp-5f));
p = F.fma(p, r, F.splat(0x1.555492p-3f));
p = F.fma(p, r, F.splat(0x1.fffffcp-2f));
p = F.fma(p, r, F.splat(1.0f));
p = F.fma(p, r, F.splat(1.0f));
return F.scale(p, I.sub(bitcast_F_I(shifted), bitcast_F_I(magic)));
"""

EXP2 = """
x = F.max_fast(F.splat(-152.0f), F.min_fast(F.splat(129.0f), x));
F magic = F.splat(0x1.8p+23f);
F shifted = F.add(x, magic);
F r = F.sub(x, F.sub(shifted, magic));
F p = F.fma(r, F.splat(0x1.4176acp-13f), F.splat(0x1.5f0964p-10f));
p = F.fma(p, r, F.splat(0x1.3b2dd6p-7f));
p = F.fma(p, r, F.splat(0x1.c6af7ap-5f));
p = F.fma(p, r, F.splat(0x1.ebfbdcp-3f));
p = F.fma(p, r, F.splat(0x1.62e43p-1f));
p = F.fma(p, r, F.splat(1.0f));
return F.scale(p, I.sub(bitcast_F_I(shifted), bitcast_F_I(magic)));
"""

# exp(x) - 1 = 2^k q + (2^k - 1) for q = exp(r) - 1; halved until the end because 2^128 is not a number.
EXPM1 = """
F bounded = F.max_fast(F.splat(-32.0f), F.min_fast(F.splat(89.0f), x));
F magic = F.splat(0x1.8p+23f);
F shifted = F.fma(bounded, F.splat(0x1.715476p+0f), magic);
F k = F.sub(shifted, magic);
F r = F.fma(k, F.splat(-0x1.62e43p-1f), bounded);
r = F.fma(k, F.splat(0x1.05c61p-29f), r);
F p = F.fma(r, F.splat(0x1.6b9c68p-10f), F.splat(0x1.12254ap-7f));
p = F.fma(p, r, F.splat(0x1.5556f2p-5f));
p = F.fma(p, r, F.splat(0x1.5554b4p-3f));
p = F.fma(p, r, F.splat(0x1.fffffep-2f));
F q = F.fma(p, F.mul(r, r), r);
F half = bitcast_I_F(I.add(I.shl(bitcast_F_I(shifted), I.splat(23)), bitcast_F_I(F.splat(0.5f))));
F y = F.fma(half, q, F.sub(half, F.splat(0.5f)));
return F.copysign(F.add(y, y), x);
"""

# x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
LOG_SPLIT = """
F tiny = F.blend(F.lt(x, F.splat(0x1p-126f)), F.splat(0x1p+23f), F.splat(1.0f));
F offset = F.blend(F.lt(x, F.splat(0x1p-126f)), F.splat(-23.0f), F.splat(0.0f));
I bits = bitcast_F_I(F.mul(x, tiny));
I exponent = I.shr(I.sub(bits, I.splat(0x3f3504f3)), I.splat(23));
F f = F.sub(bitcast_I_F(I.sub(bits, I.shl(exponent, I.splat(23)))), F.splat(1.0f));
F k = F.add(cast_I_F(exponent), offset);
"""

# log is NaN below 0, -infinity at 0, and keeps +infinity and NaN.
LOG_SPECIAL = """
y = F.blend(F.lt(x, F.splat(__builtin_inff())), y, x);
y = F.blend(F.lt(x, F.zero()), F.splat(__builtin_nanf("")), y);
return F.blend(F.eq(x, F.zero()), F.splat(-__builtin_inff()), y);
"""

# log(1 + f) = f - f^2 / 2 + f^3 p(f).
LOG = (
    LOG_SPLIT
    + """\
F p = F.fma(f, F.splat(-0x1.3924fap-4f), F.splat(0x1.05b36p-3f));
p = F.fma(p, f, F.splat(-0x1.0d9a7cp-3f));
p = F.fma(p, f, F.splat(0x1.22d004p-3f));
p = F.fma(p, f, F.splat(-0x1.546f36p-3f));
p = F.fma(p, f, F.splat(0x1.99a056p-3f));
p = F.fma(p, f, F.splat(-0x1.000232p-2f));
p = F.fma(p, f, F.splat(0x1.555554p-2f));
F square = F.mul(f, f);
F y = F.fma(F.mul(square, f), p, F.mul(k, F.splat(-0x1.05c61p-29f)));
y = F.fma(square, F.splat(-0.5f), y);
y = F.fma(k, F.splat(0x1.62e43p-1f), F.add(f, y));"""
    + LOG_SPECIAL
)

# log2(1 + f) = f / ln(2) + f^2 p(f), with 1 / ln(2) in two parts.
LOG2 = (
    LOG_SPLIT
    + """\
F p = F.fma(f, F.splat(-0x1.c39baep-4f), F.splat(0x1.7f2818p-3f));
p = F.fma(p, f, F.splat(-0x1.87f7eap-3f));
p = F.fma(p, f, F.splat(0x1.a2c9dcp-3f));
p = F.fma(p, f, F.splat(-0x1.eaa24ap-3f));
p = F.fma(p, f, F.splat(0x1.277f44p-2f));
p = F.fma(p, f, F.splat(-0x1.715afep-2f));
p = F.fma(p, f, F.splat(0x1.ec7094p-2f));
p = F.fma(p, f, F.splat(-0x1.71547p-1f));
F y = F.fma(F.mul(f, f), p, F.mul(f, F.splat(0x1.4ae0cp-26f)));
y = F.add(k, F.fma(f, F.splat(0x1.715476p+0f), y));"""
    + LOG_SPECIAL
)

# log(1 + x) = log(u) + (x - (u - 1)) / u for u = 1 + x rounded.
LOG1P = """
F u = F.add(x, F.splat(1.0f));
F lost = F.div(F.sub(x, F.sub(u, F.splat(1.0f))), u);
F y = F.add(F.log(u), F.blend(F.lt(F.abs(lost), F.splat(1.0f)), lost, F.zero()));
return F.blend(F.eq(u, F.splat(1.0f)), x, y);
"""

# tanh|x| = e / (e + 2) for e = exp(2|x|) - 1; a polynomial below 0.4, where the rounding of e would show.
TANH = """
F a = F.abs(x);
F e = F.expm1_bounded(F.min_fast(F.splat(20.0f), F.add(a, a)));
F square = F.mul(x, x);
F p = F.fma(square, F.splat(0x1.33139ep-6f), F.splat(-0x1.b6c676p-5f));
p = F.fma(p, square, F.splat(0x1.1105eep-3f));
p = F.fma(p, square, F.splat(-0x1.55553ep-2f));
F small = F.fma(F.mul(p, square), a, a);
return F.copysign(F.blend(F.lt(a, F.splat(0.4f)), small, F.div(e, F.add(e, F.splat(2.0f)))), x);
"""

# exp(x) - 1 for |x| < 80: as expm1, without the cases near the ends of the range.
EXPM1_BOUNDED = """
F magic = F.splat(0x1.8p+23f);
F shifted = F.fma(x, F.splat(0x1.715476p+0f), magic);
F k = F.sub(shifted, magic);
F r = F.fma(k, F.splat(-0x1.62e43p-1f), x);
r = F.fma(k, F.splat(0x1.05c61p-29f), r);
F p = F.fma(r, F.splat(0x1.6b9c68p-10f), F.splat(0x1.12254ap-7f));
p = F.fma(p, r, F.splat(0x1.5556f2p-5f));
p = F.fma(p, r, F.splat(0x1.5554b4p-3f));
p = F.fma(p, r, F.splat(0x1.fffffep-2f));
F q = F.fma(p, F.mul(r, r), r);
F power = bitcast_I_F(I.add(I.shl(bitcast_F_I(shifted), I.splat(23)), bitcast_F_I(F.splat(1.0f))));
return F.fma(power, q, F.sub(power, F.splat(1.0f)));
"""

# erf|x| = 1 - exp(-g) for g = -log(erfc|x|) = |x| (2 / sqrt(pi) + |x| p(|x|)); it rounds to 1 beyond 3.92.
ERF = """
F a = F.min_fast(F.splat(3.93f), F.abs(x));
F p = F.fma(a, F.splat(-0x1.36dab6p-17f), F.splat(0x1.edba26p-14f));
p = F.fma(p, a, F.splat(-0x1.4bed72p-11f));
p = F.fma(p, a, F.splat(0x1.b5218cp-10f));
p = F.fma(p, a, F.splat(-0x1.516f8cp-13f));
p = F.fma(p, a, F.splat(-0x1.39cc9cp-6f));
p = F.fma(p, a, F.splat(0x1.a4fa4ap-4f));
p = F.fma(p, a, F.splat(0x1.45f2fap-1f));
p = F.fma(p, a, F.splat(-0x1.d0e718p-25f));
F g = F.fma(a, F.splat(0x1.20dd76p+0f), F.mul(p, a));
return F.copysign(F.expm1_bounded(F.neg(g)), x);
"""

# sin(x + quarter pi/2) for 0 <= x <= 1e5: x = n pi/2 + r with pi/2 in three parts (Cody and Waite, "Software
# Manual for the Elementary Functions", 1980); the first fused step is exact.
SIN_QUARTER = """
F magic = F.splat(0x1.8p+23f);
F shifted = F.fma(x, F.splat(0x1.45f306p-1f), magic);
F n = F.sub(shifted, magic);
F r = F.fma(n, F.splat(-0x1.921fb6p+0f), x);
r = F.fma(n, F.splat(0x1.777a5cp-25f), r);
r = F.fma(n, F.splat(0x1.ee59dap-50f), r);
F square = F.mul(r, r);
F s = F.fma(square, F.splat(-0x1.9951fp-13f), F.splat(0x1.110774p-7f));
s = F.fma(s, square, F.splat(-0x1.555546p-3f));
s = F.fma(F.mul(s, square), r, r);
F c = F.fma(square, F.splat(0x1.99e80ep-16f), F.splat(-0x1.6c0c28p-10f));
c = F.fma(c, square, F.splat(0x1.55554ap-5f));
c = F.fma(c, square, F.splat(-0.5f));
c = F.fma(c, square, F.splat(1.0f));
I quadrant = I.add(bitcast_F_I(shifted), I.splat(quarter));
F y = F.blend(bitcast_F_I(bitcast_I_F(I.neg(I.and(quadrant, I.splat(1))))), c, s);
I sign = I.shl(I.and(quadrant, I.splat(2)), I.splat(30));
return bitcast_I_F(I.xor(bitcast_F_I(y), sign));
"""

SIN = """
F a = F.abs(x);
if (__builtin_expect(K.any(F.gt(a, F.splat(1e5f))), 0))
    return F.sin_libm(x);
I sign = I.and(bitcast_F_I(x), I.splat(INT32_MIN));
return bitcast_I_F(I.xor(bitcast_F_I(F.sin_quarter(a, 0)), sign));
"""

COS = """
F a = F.abs(x);
if (__builtin_expect(K.any(F.gt(a, F.splat(1e5f))), 0))
    return F.cos_libm(x);
return F.sin_quarter(a, 1);
"""


@dataclass(frozen=True, slots=True)
class Body:
    """A vector function: parameters after x, and its text in the notation of `body_for`."""

    name: str
    text: str
    extra: tuple[str, ...] = ()


BODIES = (
    Body("scale", SCALE, ("I k",)),
    Body("exp", EXP),
    Body("exp2", EXP2),
    Body("expm1", EXPM1),
    Body("expm1_bounded", EXPM1_BOUNDED),
    Body("log", LOG),
    Body("log2", LOG2),
    Body("log1p", LOG1P),
    Body("tanh", TANH),
    Body("erf", ERF),
    Body("sin_quarter", SIN_QUARTER, ("int32_t quarter",)),
    Body("sin", SIN),
    Body("cos", COS),
)
SCALAR = ("exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf", "sin", "cos")


def _function(body: Body, vector: Vector) -> str:
    arguments = [f"{vector.c} x", *(body_for(vector, text) for text in body.extra)]
    return function(vector.c, f"{vector.name}_{body.name}", arguments, body_for(vector, body.text))


def _scalar(name: str, element: str) -> str:
    """The scalar function is lane 0 of the vector function, so that both agree to the last bit."""
    c = ELEMENTS[element].c
    vector = f"{element}x8"
    return function(c, f"{element}_{name}", [f"{c} x"], f"return {vector}_{name}({vector}_splat(x)).a[0];")


def definitions() -> Iterator[Definition]:
    """The elementary functions of f32, for every lane count."""
    for name in SCALAR:
        yield Definition(f"f32_{name}", partial(_scalar, name, "f32"))
    for lanes in LANES:
        vector = Vector(ELEMENTS["f32"], lanes)
        for body in BODIES:
            yield Definition(f"{vector.name}_{body.name}", partial(_function, body, vector))
