"""Elementary functions of f32 and f64 vectors as polynomials.

A body is written once in the notation of `body_for`, with three additions: `#name` is a vector of one of
the element's numbers (or of a literal), `%name` of one of its integers, and `F p = NAME(r);` evaluates a
polynomial by Horner's rule.  Fused multiply-adds are written out: no result hangs on contraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl_cpu_c.vector.coefficients import CONSTANTS
from xdsl_cpu_c.vector.elements import CHUNK_MEMBERS, ELEMENTS, FLOATS, LANES, Element, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, function

# x 2^k as two products with powers of two, so that a result below the smallest normal number is rounded once.
SCALE = """
F half = F.fma(k, #0.5, #magic_bias);
F rest = F.add(F.sub(k, F.sub(half, #magic_bias)), #magic_bias);
F low = bitcast_I_F(I.shl(bitcast_F_I(half), %mantissa));
F high = bitcast_I_F(I.shl(bitcast_F_I(rest), %mantissa));
return F.mul(F.mul(x, low), high);
"""

# exp(x) = 2^k exp(r), |r| <= ln(2) / 2.  The clamp keeps NaN and lets results reach 0 and infinity.
EXP = """
x = F.max_fast(#exp_lowest, F.min_fast(#exp_highest, x));
F k = F.sub(F.fma(x, #log2_e, #magic), #magic);
F r = F.fma(k, -#ln2_low, F.fma(k, -#ln2, x));
F p = EXP(r);
p = F.fma(F.fma(p, r, #1.0), r, #1.0);
return F.scale(p, k);
"""

EXP2 = """
x = F.max_fast(#exp2_lowest, F.min_fast(#exp2_highest, x));
F k = F.sub(F.add(x, #magic), #magic);
F r = F.sub(x, k);
F p = EXP2(r);
return F.scale(F.fma(p, r, #1.0), k);
"""

# exp(x) - 1 = 2^k q + (2^k - 1) for q = exp(r) - 1, with k left in the low bits of `shifted`.
EXPM1_STEPS = """
F shifted = F.fma(x, #log2_e, #magic);
F k = F.sub(shifted, #magic);
F r = F.fma(k, -#ln2_low, F.fma(k, -#ln2, x));
F p = EXPM1(r);
F q = F.fma(p, F.mul(r, r), r);
"""

# Where 2^k is a number.
EXPM1_BOUNDED = (
    EXPM1_STEPS
    + """
F power = bitcast_I_F(I.add(I.shl(bitcast_F_I(shifted), %mantissa), %one));
return F.fma(power, q, F.sub(power, #1.0));
"""
)

# 2^128 (2^1024) is no number: half of it is used and the result doubled.
EXPM1 = (
    """
F argument = x;
x = F.max_fast(#expm1_lowest, F.min_fast(#exp_highest, x));
"""
    + EXPM1_STEPS
    + """
F half = bitcast_I_F(I.add(I.shl(bitcast_F_I(shifted), %mantissa), %half));
F y = F.fma(half, q, F.sub(half, #0.5));
return F.copysign(F.add(y, y), argument);
"""
)

# x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); subnormal numbers are scaled first.
LOG_SPLIT = """
I tiny = F.lt_bits(x, #smallest);
F scaled = F.mul(x, F.blend(tiny, #tiny_scale, #1.0));
I bits = I.add(bitcast_F_I(scaled), %root_rebias);
F f = F.sub(bitcast_I_F(I.add(I.and(bits, %mantissa_mask), %root_half)), #1.0);
F biased = bitcast_U_F(U.or(U.shr(bitcast_I_U(bits), U.splat($mantissa)), bitcast_I_U(%magic)));
F k = F.sub(biased, F.blend(tiny, #magic_bias_tiny, #magic_bias));
"""

# NaN below 0, -infinity at 0; +infinity and NaN stay.
LOG_SPECIAL = """
y = F.blend(F.lt_bits(x, F.splat(__builtin_inf())), y, x);
y = F.blend(F.lt_bits(x, F.zero()), F.splat(__builtin_nan("")), y);
return F.blend(F.eq_bits(x, F.zero()), F.splat(-__builtin_inf()), y);
"""

LOG_F32 = """
F p = LOG(f);
F square = F.mul(f, f);
F y = F.fma(F.mul(square, f), p, F.mul(k, #ln2_low));
y = F.fma(square, #-0.5, y);
y = F.fma(k, #ln2, F.add(f, y));
"""

# log(1 + f) = f - (h - s (h + s^2 p)) for s = f / (2 + f), h = f^2 / 2.
LOG_F64_STEPS = """
F s = F.div(f, F.add(f, #2.0));
F square = F.mul(s, s);
F p = LOG(square);
F h = F.mul(F.mul(f, #0.5), f);
"""
LOG_F64 = (
    LOG_F64_STEPS
    + """
F t = F.fma(s, F.fma(square, p, h), F.mul(k, #ln2_low));
F y = F.fma(k, #ln2, F.sub(f, F.sub(h, t)));
"""
)

LOG2_F32 = """
F p = LOG2(f);
F y = F.fma(F.mul(f, f), p, F.mul(f, #log2_e_low));
y = F.add(k, F.fma(f, #log2_e, y));
"""

# The rounding of f - (h - t) is carried along: log2 of a number near 1 would show it.
LOG2_F64 = (
    LOG_F64_STEPS
    + """
F t = F.sub(h, F.mul(s, F.fma(square, p, h)));
F high = F.sub(f, t);
F low = F.sub(F.sub(f, high), t);
F y = F.fma(high, #log2_e_low, F.mul(low, #log2_e));
y = F.add(k, F.fma(high, #log2_e, y));
"""
)

# log(1 + x) = log(u) + (x - (u - 1)) / u for u = 1 + x rounded; no quotient where u is 0 or infinite.
LOG1P = """
F u = F.add(x, #1.0);
F lost = F.div(F.sub(x, F.sub(u, #1.0)), u);
F y = F.add(F.log(u), F.blend(F.lt_bits(F.abs(lost), #1.0), lost, F.zero()));
return F.blend(F.eq_bits(u, #1.0), x, y);
"""

# tanh|x| = e / (e + 2) for e = exp(2|x|) - 1; a polynomial below 0.4, where the rounding of e would show.
TANH = """
F a = F.abs(x);
F e = F.expm1_bounded(F.min_fast(#40.0, F.add(a, a)));
F square = F.mul(x, x);
F p = TANH(square);
F small = F.fma(F.mul(p, square), a, a);
return F.copysign(F.blend(F.lt_bits(a, #0.4), small, F.div(e, F.add(e, #2.0))), x);
"""

# erf|x| = 1 - exp(-g) for g = -log(erfc|x|) = |x| (2 / sqrt(pi) + |x| p(|x|)); it rounds to 1 beyond 3.92.
ERF = """
F a = F.min_fast(#3.93, F.abs(x));
F p = ERF(a);
F g = F.fma(a, #0x1.20dd76p+0, F.mul(p, a));
return F.copysign(F.expm1_bounded(F.neg(g)), x);
"""

# sin(x + quarter pi/2) for 0 <= x <= 1e5: x = n pi/2 + r with pi/2 in three parts (Cody and Waite, "Software
# Manual for the Elementary Functions", 1980); the first fused step is exact.
SIN_QUARTER = """
F shifted = F.fma(x, #two_over_pi, #magic);
F n = F.sub(shifted, #magic);
F r = F.fma(n, -#half_pi, x);
r = F.fma(n, -#half_pi_low, F.fma(n, -#half_pi_middle, r));
F square = F.mul(r, r);
F s = SIN(square);
s = F.fma(F.mul(s, square), r, r);
F c = COS(square);
c = F.fma(F.fma(c, square, #-0.5), square, #1.0);
I quadrant = I.add(bitcast_F_I(shifted), I.splat(quarter));
F y = F.blend(I.neg(I.and(quadrant, I.splat(1))), c, s);
I sign = I.shl(I.and(quadrant, I.splat(2)), %sign_shift);
return bitcast_I_F(I.xor(bitcast_F_I(y), sign));
"""

SIN = """
F a = F.abs(x);
if (__builtin_expect(K.any(F.gt(a, #1e5)), 0))
    return F.sin_libm(x);
return bitcast_I_F(I.xor(bitcast_F_I(F.sin_quarter(a, 0)), I.xor(bitcast_F_I(x), bitcast_F_I(a))));
"""

COS = """
F a = F.abs(x);
if (__builtin_expect(K.any(F.gt(a, #1e5)), 0))
    return F.cos_libm(x);
return F.sin_quarter(a, 1);
"""


@dataclass(frozen=True, slots=True)
class Body:
    """A vector function: its name, its parameter after x (empty: none), its text for some elements."""

    name: str
    parameter: str
    text: str
    elements: tuple[Element, ...] = FLOATS
    scalar: bool = True


F32 = (ELEMENTS["f32"],)
F64 = (ELEMENTS["f64"],)
BODIES = (
    Body("scale", "F k", SCALE, scalar=False),
    Body("exp", "", EXP),
    Body("exp2", "", EXP2),
    Body("expm1", "", EXPM1),
    Body("expm1_bounded", "", EXPM1_BOUNDED, scalar=False),
    Body("log", "", LOG_SPLIT + LOG_F32 + LOG_SPECIAL, F32),
    Body("log", "", LOG_SPLIT + LOG_F64 + LOG_SPECIAL, F64),
    Body("log2", "", LOG_SPLIT + LOG2_F32 + LOG_SPECIAL, F32),
    Body("log2", "", LOG_SPLIT + LOG2_F64 + LOG_SPECIAL, F64),
    Body("log1p", "", LOG1P),
    Body("tanh", "", TANH),
    Body("erf", "", ERF, F32),
    Body("sin_quarter", "int32_t quarter", SIN_QUARTER, scalar=False),
    Body("sin", "", SIN),
    Body("cos", "", COS),
)

_POLYNOMIAL = re.compile(r"F (\w+) = ([A-Z][A-Z0-9]+)\((\w+)\);")
_NUMBER = re.compile(r"(-?)#([a-z_][a-z0-9_]*|-?[0-9][0-9a-fx.]*(?:[ep][+-]?\d+)?)")
_INTEGER = re.compile(r"%(\w+)")


def _horner(match: re.Match[str], element: Element) -> str:
    variable, name, argument = match.groups()
    *rest, second, first = (f"#{c}" for c in CONSTANTS[element.name].polynomials[name])
    lines = [f"F {variable} = F.fma({first}, {argument}, {second});"]
    lines += [f"{variable} = F.fma({variable}, {argument}, {c});" for c in reversed(rest)]
    return "\n".join(lines)


def _number(match: re.Match[str], element: Element) -> str:
    sign, text = match.groups()
    literal = sign + CONSTANTS[element.name].numbers.get(text, text)
    return f"F.splat({literal.replace('--', '')}{element.suffix})"


def spelled_out(text: str, element: Element) -> str:
    """`text` with the element's polynomials, numbers and integers filled in."""
    integers = CONSTANTS[element.name].integers
    text = _POLYNOMIAL.sub(partial(_horner, element=element), text)
    text = _NUMBER.sub(partial(_number, element=element), text)
    text = _INTEGER.sub(lambda match: f"I.splat({integers[match[1]]})", text)
    return text.replace("$mantissa", integers["mantissa"]).replace("\n\n", "\n")


def _halves(body: Body, vector: Vector) -> str:
    """A vector of more than four chunks is computed in two halves: more would not fit the registers."""
    half = Vector(vector.element, vector.lanes // 2)
    count = len(half.members)
    extra = f", {body.parameter.split()[1]}" if body.parameter else ""
    lines = []
    for name, members in (("low", vector.members[:count]), ("high", vector.members[count:])):
        argument = ", ".join(f"x.{member}" for member in members)
        lines.append(f"{half.name} {name} = {half.name}_{body.name}(({half.name}){{{argument}}}{extra});")
    parts = ", ".join(f"{name}.{m}" for name in ("low", "high") for m in CHUNK_MEMBERS[:count])
    return "\n".join([*lines, f"return ({vector.name}){{{parts}}};"])


def _function(body: Body, vector: Vector) -> str:
    arguments = [f"{vector.c} x"]
    if body.parameter:
        arguments.append(body_for(vector, body.parameter))
    text = body_for(vector, spelled_out(body.text, vector.element))
    if len(vector.members) > 4:
        text = _halves(body, vector)
    return function(vector.c, f"{vector.name}_{body.name}", arguments, text)


def _scalar(body: Body, element: Element) -> str:
    """The scalar function is lane 0 of the vector function, so that both agree to the last bit."""
    vector = f"{element.name}x8"
    text = f"return {vector}_{body.name}({vector}_splat(x)).a[0];"
    return function(element.c, f"{element.name}_{body.name}", [f"{element.c} x"], text)


def definitions() -> Iterator[Definition]:
    """The elementary functions, for every lane count."""
    for body in BODIES:
        for element in body.elements:
            if body.scalar:
                yield Definition(f"{element.name}_{body.name}", partial(_scalar, body, element))
            for vector in (Vector(element, lanes) for lanes in LANES):
                whole = len(vector.members) <= 4
                if whole or body.scalar:
                    yield Definition(f"{vector.name}_{body.name}", partial(_function, body, vector))
