"""What the backend claims to do on a target, and why it refuses the rest."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from types import MappingProxyType

from xdsl_core import dtypes
from xdsl_core.dtypes import BY_NAME
from xdsl_core.ir import Trait
from xdsl_core.opdef import OpDef
from xdsl_core.ops import CORE
from xdsl_core.target import Capabilities, Claim, Denial, TargetDescription
from xdsl_gpu_triton.codegen.spellings import SPELLINGS
from xdsl_gpu_triton.legalize.casts import TAKEN_APART
from xdsl_gpu_triton.legalize.elements import takes, wider
from xdsl_gpu_triton.versions import DIFFERENCES, Installed, installed_triton

_FP8 = frozenset(dtype.name for dtype in dtypes.ALL if dtype.is_float and dtype.bits == 8)
_ALL = frozenset(dtype.name for dtype in dtypes.ALL)
_BITS_IN_INTERPRETER = "Triton's interpreter computes {} on the bits, as if they were integers"
_FP8_REASON = (
    "Triton's interpreter rounds fp8 wrongly and reads its NaN and infinities as numbers; "
    "it can only move fp8 values"
)
# fp8 dtypes that Triton has on a chip (supported_fp8_dtypes in Triton's backends), by target. It also takes
# f8e4m3b11fnuz on CUDA, which it reaches from f32 in two roundings.
_FP8_OF = MappingProxyType(
    {
        "sm_80": frozenset({"f8e5m2"}),
        "sm_90": frozenset({"f8e5m2", "f8e4m3fn"}),
        "gfx942": frozenset({"f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz"}),
    }
)
# Ops that pass the bits of their operands on, beside those with the trait for it.
_MOVE_BITS = (
    *("memory.*", "tile.select", "tile.bitcast", "tile.offset", "tile.pointer_*", "tile.int_to_pointer"),
    *("control.*", "grid.*"),
)
# Op (a pattern), the difference of versions that it needs, and the dtypes it concerns (none: all).
_LATER = (
    ("tile.fma", "interpreter_fma_rounds_once", frozenset[str]()),
    ("atomic.rmw", "interpreter_atomics_of_f64", frozenset({"f64"})),
    ("*", "interpreter_has_fnuz", frozenset({"f8e4m3fnuz", "f8e5m2fnuz"})),
)
# atom_red_typechecking_impl in Triton's semantic.py
_NO_NARROW_ATOMICS = Denial(
    "atomic.rmw", "Triton updates integers of 32 and 64 bits only", frozenset({"i8", "u8", "i16", "u16"})
)
# Triton has no mask for it, so a tile cannot be filled up to extents that are powers of two.
_LIMITS = {"atomic.cas": {"power_of_two": 1}}
_WITH_FUNCTION = ("tile.reduce", "tile.scan")
_LIBDEVICE_ONLY = "stock Triton has it in libdevice only, which its interpreter does not run"


def capabilities(target: TargetDescription) -> Capabilities:
    """The claims for a target, which depend on the installed Triton where its interpreter differs."""
    if target.vendor:
        return _compiled(target)
    return _interpreted(installed_triton())


def _compiled(target: TargetDescription) -> Capabilities:
    missing = _FP8 - _FP8_OF[target.name]
    claims, denials = [], []
    for definition in CORE:
        kinds = _kinds(definition, interpreted=False) - missing
        claims.append(Claim(definition.name, kinds, _LIMITS.get(definition.name, {})))
        denials.append(
            Denial(
                definition.name, f"Triton has no such dtype on {target.name}, or rounds to it twice", missing
            )
        )
    return Capabilities(tuple(claims), (*denials, _NO_NARROW_ATOMICS))


def _interpreted(triton: Installed | None) -> Capabilities:
    claims, denials = [], []
    for definition in CORE:
        kinds = _kinds(definition, interpreted=True)
        if not kinds:
            denials.append(Denial(definition.name, _LIBDEVICE_ONLY))
            continue
        claims.append(Claim(definition.name, kinds, _LIMITS.get(definition.name, {})))
        denials += _interpreter_denials(definition)
    denials += _version_denials(triton)
    return Capabilities(tuple(claims), (*denials, _NO_NARROW_ATOMICS))


def _version_denials(triton: Installed | None) -> Iterator[Denial]:
    """What the installed interpreter gets wrong and a later one does not."""
    for op, difference, kinds in _LATER:
        if triton is None or triton.has(difference):
            continue
        since = ".".join(map(str, DIFFERENCES[difference].since))
        reason = f"{DIFFERENCES[difference].before} before Triton {since}"
        for definition in CORE:
            if fnmatchcase(definition.name, op):
                yield Denial(definition.name, reason, kinds)


def _interpreter_denials(definition: OpDef) -> Iterator[Denial]:
    if _moves_bits(definition):
        return
    half = frozenset({"bf16"})
    if definition.name not in ("tile.cast", "tile.constant"):
        yield Denial(definition.name, _BITS_IN_INTERPRETER.format("bf16"), half)
    yield Denial(definition.name, _FP8_REASON, _FP8)


def _moves_bits(definition: OpDef) -> bool:
    return Trait.MOVEMENT in definition.traits or any(
        fnmatchcase(definition.name, pattern) for pattern in _MOVE_BITS
    )


def _kinds(definition: OpDef, *, interpreted: bool) -> frozenset[str]:
    """The dtypes that there is a spelling for, or that are computed in another one that has one."""
    name = definition.name
    if name not in SPELLINGS or name in TAKEN_APART:
        return _ALL
    return frozenset(
        kind
        for kind in _ALL
        if takes(name, kind, interpreted=interpreted)
        or takes(name, wider(BY_NAME[kind]).name, interpreted=interpreted)
        or "pointer" in name
        or definition.operands.keys() & {"pointer"}
        or not definition.operands
    )
