"""Numbers of the elementary functions: how f32 and f64 are laid out, and the polynomials fitted to each.

The polynomials are minimax fits of the stated quantity, weighted for the relative error of the function,
lowest power first.  For f32 each coefficient was rounded and the higher ones fitted again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Polynomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """Everything in which a function's f32 and f64 texts differ, as C literals without a suffix.

    `magic` added to a number rounds it to an integer that sits in the low bits; `magic_bias` does so with the
    exponent's bias added.  `ln2`, `log2_e` and `half_pi` are given in parts that sum to the constant, each
    the nearest to what is left.  The `_range` pairs are where results have reached their limits.
    """

    integers: Mapping[str, str]
    numbers: Mapping[str, str]
    polynomials: Mapping[str, Polynomial]


F32 = Constants(
    integers=MappingProxyType(
        {
            "mantissa": "23",
            "mantissa_mask": "0x7fffff",
            "sign_shift": "30",
            "half": "0x3f000000",
            "one": "0x3f800000",
            "root_half": "0x3f3504f3",
            "root_rebias": "0x4afb0d",
            "magic": "0x4b400000",
        }
    ),
    numbers=MappingProxyType(
        {
            "magic": "0x1.8p+23",
            "magic_bias": "0x1.8000fep+23",
            "magic_bias_tiny": "0x1.80012cp+23",
            "log2_e": "0x1.715476p+0",
            "log2_e_low": "0x1.4ae0cp-26",
            "ln2": "0x1.62e43p-1",
            "ln2_low": "-0x1.05c61p-29",
            "two_over_pi": "0x1.45f306p-1",
            "half_pi": "0x1.921fb6p+0",
            "half_pi_middle": "-0x1.777a5cp-25",
            "half_pi_low": "-0x1.ee59dap-50",
            "smallest": "0x1p-126",
            "tiny_scale": "0x1p+23",
            "exp_lowest": "-104.0",
            "exp_highest": "89.0",
            "exp2_lowest": "-152.0",
            "exp2_highest": "129.0",
            "expm1_lowest": "-32.0",
        }
    ),
    polynomials=MappingProxyType(
        {
            # (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2, for exp and for exp - 1
            "EXP": ("0x1.fffffcp-2", "0x1.555492p-3", "0x1.5558bp-5", "0x1.12398ep-7", "0x1.6a4d58p-10"),
            "EXPM1": ("0x1.fffffep-2", "0x1.5554b4p-3", "0x1.5556f2p-5", "0x1.12254ap-7", "0x1.6b9c68p-10"),
            # (2^r - 1) / r, |r| <= 1 / 2
            "EXP2": (
                "0x1.62e43p-1",
                "0x1.ebfbdcp-3",
                "0x1.c6af7ap-5",
                "0x1.3b2dd6p-7",
                "0x1.5f0964p-10",
                "0x1.4176acp-13",
            ),
            # (log(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f < sqrt(2)
            "LOG": (
                "0x1.555554p-2",
                "-0x1.000232p-2",
                "0x1.99a056p-3",
                "-0x1.546f36p-3",
                "0x1.22d004p-3",
                "-0x1.0d9a7cp-3",
                "0x1.05b36p-3",
                "-0x1.3924fap-4",
            ),
            # (log2(1 + f) - f / ln(2)) / f^2
            "LOG2": (
                "-0x1.71547p-1",
                "0x1.ec7094p-2",
                "-0x1.715afep-2",
                "0x1.277f44p-2",
                "-0x1.eaa24ap-3",
                "0x1.a2c9dcp-3",
                "-0x1.87f7eap-3",
                "0x1.7f2818p-3",
                "-0x1.c39baep-4",
            ),
            # (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi / 4
            "SIN": ("-0x1.555546p-3", "0x1.110774p-7", "-0x1.9951fp-13"),
            "COS": ("0x1.55554ap-5", "-0x1.6c0c28p-10", "0x1.99e80ep-16"),
            # (tanh(x) - x) / x^3 in x^2, |x| <= 0.4
            "TANH": ("-0x1.55553ep-2", "0x1.1105eep-3", "-0x1.b6c676p-5", "0x1.33139ep-6"),
            # -log(erfc(x)) / x - 0x1.20dd76p+0, 0 <= x <= 3.93
            "ERF": (
                "-0x1.d0e718p-25",
                "0x1.45f2fap-1",
                "0x1.a4fa4ap-4",
                "-0x1.39cc9cp-6",
                "-0x1.516f8cp-13",
                "0x1.b5218cp-10",
                "-0x1.4bed72p-11",
                "0x1.edba26p-14",
                "-0x1.36dab6p-17",
            ),
        }
    ),
)

F64 = Constants(
    integers=MappingProxyType(
        {
            "mantissa": "52",
            "mantissa_mask": "INT64_C(0xfffffffffffff)",
            "sign_shift": "62",
            "half": "INT64_C(0x3fe0000000000000)",
            "one": "INT64_C(0x3ff0000000000000)",
            "root_half": "INT64_C(0x3fe6a09e667f3bcd)",
            "root_rebias": "INT64_C(0x95f619980c433)",
            "magic": "INT64_C(0x4338000000000000)",
        }
    ),
    numbers=MappingProxyType(
        {
            "magic": "0x1.8p+52",
            "magic_bias": "0x1.80000000003ffp+52",
            "magic_bias_tiny": "0x1.8000000000433p+52",
            "log2_e": "0x1.71547652b82fep+0",
            "log2_e_low": "0x1.777d0ffda0d24p-56",
            "ln2": "0x1.62e42fefa39efp-1",
            "ln2_low": "0x1.abc9e3b39803fp-56",
            "two_over_pi": "0x1.45f306dc9c883p-1",
            "half_pi": "0x1.921fb54442d18p+0",
            "half_pi_middle": "0x1.1a62633145c07p-54",
            "half_pi_low": "-0x1.f1976b7ed8fbcp-110",
            "smallest": "0x1p-1022",
            "tiny_scale": "0x1p+52",
            "exp_lowest": "-746.0",
            "exp_highest": "710.0",
            "exp2_lowest": "-1077.0",
            "exp2_highest": "1025.0",
            "expm1_lowest": "-50.0",
        }
    ),
    polynomials=MappingProxyType(
        {
            "EXP": (
                "0x1.000000000000ap-1",
                "0x1.55555555554f9p-3",
                "0x1.5555555550827p-5",
                "0x1.1111111127ccdp-7",
                "0x1.6c16c1843d0ecp-10",
                "0x1.a01a012a315e2p-13",
                "0x1.a01999d7f4bcdp-16",
                "0x1.71df255563f92p-19",
                "0x1.28ada42a823f3p-22",
                "0x1.ad7fe63048667p-26",
            ),
            "EXPM1": (
                "0x1.0000000000005p-1",
                "0x1.555555555553bp-3",
                "0x1.555555555222dp-5",
                "0x1.1111111118795p-7",
                "0x1.6c16c17ef9b28p-10",
                "0x1.a01a0177f01aep-13",
                "0x1.a019a71d8b5ffp-16",
                "0x1.71de81674f9e7p-19",
                "0x1.28a22c4ca23fap-22",
                "0x1.ae767fe439ea7p-26",
            ),
            "EXP2": (
                "0x1.62e42fefa39efp-1",
                "0x1.ebfbdff82c5a4p-3",
                "0x1.c6b08d7049fe6p-5",
                "0x1.3b2ab6fba00b6p-7",
                "0x1.5d87fe78cda5ap-10",
                "0x1.4309130eee200p-13",
                "0x1.ffcbfba8b79ccp-17",
                "0x1.62bfc76450b87p-20",
                "0x1.b5267df4d95b1p-24",
                "0x1.e61bb77303009p-28",
                "0x1.e79ae335a966ap-32",
            ),
            # (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2, s = f / (2 + f)
            "LOG": (
                "0x1.5555555555593p-1",
                "0x1.999999997fb0ap-2",
                "0x1.249249421b56ep-2",
                "0x1.c71c51e3b89ddp-3",
                "0x1.7466474ad28d2p-3",
                "0x1.39a0d1f9ab9d0p-3",
                "0x1.2f0f2ba9cd560p-3",
            ),
            "SIN": (
                "-0x1.5555555555548p-3",
                "0x1.111111110f784p-7",
                "-0x1.a01a019bf44fep-13",
                "0x1.71de355f60057p-19",
                "-0x1.ae5e53d8dd92ep-26",
                "0x1.5d8dd64e6dc93p-33",
            ),
            "COS": (
                "0x1.555555555554bp-5",
                "-0x1.6c16c16c14f3fp-10",
                "0x1.a01a019c7c37bp-16",
                "-0x1.27e4f7e4d6115p-22",
                "0x1.1ee9d39c753f1p-29",
                "-0x1.8fa27283b80f9p-37",
            ),
            "TANH": (
                "-0x1.55555555550c5p-2",
                "0x1.111111109d3aep-3",
                "-0x1.ba1ba13c3a082p-5",
                "0x1.664f275b3501ep-6",
                "-0x1.22695c64db369p-7",
                "0x1.d5ff1b7d169fep-9",
                "-0x1.72f0eb94b4323p-10",
                "0x1.d258495f1ab29p-12",
            ),
        }
    ),
)

CONSTANTS = MappingProxyType({"f32": F32, "f64": F64})
