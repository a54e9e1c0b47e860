"""Read-modify-write in one indivisible step."""

from __future__ import annotations

from typing import Any

from xdsl_core import ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import PointerType, element_of, pointee_of
from xdsl_core.language.builtin import Builtin, builtin
from xdsl_core.language.context import Context, fail
from xdsl_core.language.memory import checked_option, checked_pointer, fitting, fitting_mask
from xdsl_core.language.semantics.conversion import bitcast, cast, constant, converted
from xdsl_core.language.types import get_int_dtype
from xdsl_core.language.values import Operand, tensor

SEMANTICS = ("acq_rel", "acquire", "release", "relaxed")
SCOPES = ("gpu", "cta", "sys")
_BIT_KINDS = ("and", "or", "xor")
_HALF_KINDS = ("add", "xchg")


def checked_update(function: str, kind: str, element: DType) -> None:
    """X0145 where memory of this dtype cannot be updated in this way."""
    least = 8 if element.is_integer else 16 if kind in _HALF_KINDS else 32
    if element.bits < least or (element.is_float and kind in _BIT_KINDS):
        floats = ", f16, bf16, f32 and f64" if kind in _HALF_KINDS else ", f32 and f64"
        raise fail(
            "X0145",
            f"tl.{function} does not work on {element}",
            help=f"it takes integers of 8 to 64 bits{'' if kind in _BIT_KINDS else floats}",
        )


def _orders(function: str, sem: str | None, scope: str | None) -> dict[str, Any]:
    return _known_orders(function, sem or SEMANTICS[0], scope, SEMANTICS)


def _known_orders(function: str, sem: str, scope: str | None, known: tuple[str, ...]) -> dict[str, Any]:
    checked_option(function, "sem", sem, known)
    return {
        "sem": sem if sem != SEMANTICS[0] else None,
        "scope": checked_option(function, "scope", scope or SCOPES[0], SCOPES),
    }


def _read_modify_write(kind: str, doc: str) -> Builtin:
    function = f"atomic_{kind}"

    def apply(
        context: Context,
        pointer: tensor,
        val: Operand,
        mask: tensor | None = None,
        sem: str | None = None,
        scope: str | None = None,
    ) -> tensor:
        element = checked_pointer(function, pointer)
        checked_update(function, kind, element)
        value = fitting(
            context, function, "the value", converted(context, val, element, pointer.shape), pointer
        )
        lanes = fitting_mask(context, function, mask, pointer)
        return context.emit(ops.AtomicRmw, pointer, value, lanes, kind=kind, **_orders(function, sem, scope))

    apply.__name__ = apply.__qualname__ = function
    apply.__doc__ = (
        f"{doc} in one indivisible step; returns the value before. Lanes with a false mask do nothing."
    )
    return Builtin(apply, member=True)


atomic_add = _read_modify_write("add", "Add `val` to memory")
atomic_max = _read_modify_write("max", "Raise memory to at least `val`")
atomic_min = _read_modify_write("min", "Lower memory to at most `val`")
atomic_and = _read_modify_write("and", "Bitwise and of memory with `val`")
atomic_or = _read_modify_write("or", "Bitwise or of memory with `val`")
atomic_xor = _read_modify_write("xor", "Bitwise exclusive or of memory with `val`")
atomic_xchg = _read_modify_write("xchg", "Put `val` into memory")


@builtin(member=True)
def atomic_cas(
    context: Context,
    pointer: tensor,
    cmp: Operand,
    val: Operand,
    sem: str | None = None,
    scope: str | None = None,
) -> tensor:
    """Put `val` into memory where it holds `cmp`, in one indivisible step; returns the value before."""
    element = checked_pointer("atomic_cas", pointer)
    if element.bits not in (16, 32, 64):
        raise fail("X0145", f"tl.atomic_cas does not work on {element}", help="it takes 16, 32 and 64 bits")
    compare, value = (
        fitting(context, "atomic_cas", name, converted(context, one, element, pointer.shape), pointer)
        for name, one in (("cmp", cmp), ("val", val))
    )
    return context.emit(ops.AtomicCas, pointer, compare, value, **_orders("atomic_cas", sem, scope))


def _as_integers(context: Context, function: str, pointer: tensor) -> tuple[tensor, DType]:
    """Pointers to integers as wide as what they point to, and what that is. X0145 for bools."""
    element = checked_pointer(function, pointer)
    if element.bits < 8:
        raise fail("X0145", f"tl.{function} does not work on {element}", help="it takes 8 to 64 bits")
    bits = get_int_dtype(element.bits, signed=True).row
    pointed = element_of(pointer.handle.type)
    assert isinstance(pointed, PointerType)
    space = pointed.space
    return cast(context, pointer, PointerType(bits, space)), element


@builtin(member=True)
def atomic_load(
    context: Context,
    pointer: tensor,
    mask: tensor | None = None,
    sem: str | None = None,
    scope: str | None = None,
) -> tensor:
    """What a pointer points to, read in one indivisible step; undefined in lanes with a false mask.

    `sem` is "acquire" (the default) or "relaxed". The memory must be writable: it is an update that changes
    nothing.
    """
    bits, element = _as_integers(context, "atomic_load", pointer)
    lanes = fitting_mask(context, "atomic_load", mask, bits)
    nothing = constant(context, 0, pointee_of(bits.handle.type), bits.shape)
    orders = _known_orders("atomic_load", sem or "acquire", scope, ("acquire", "relaxed"))
    return bitcast(context, context.emit(ops.AtomicRmw, bits, nothing, lanes, kind="or", **orders), element)


@builtin(member=True)
def atomic_store(
    context: Context,
    pointer: tensor,
    val: Operand,
    mask: tensor | None = None,
    sem: str | None = None,
    scope: str | None = None,
) -> None:
    """Write `val` in one indivisible step. `sem` is "release" (the default) or "relaxed"."""
    bits, element = _as_integers(context, "atomic_store", pointer)
    value = fitting(context, "atomic_store", "the value", converted(context, val, element, bits.shape), bits)
    lanes = fitting_mask(context, "atomic_store", mask, bits)
    orders = _known_orders("atomic_store", sem or "release", scope, ("release", "relaxed"))
    same = bitcast(context, value, pointee_of(bits.handle.type))
    context.build(ops.AtomicRmw, bits, same, lanes, kind="xchg", **orders)


@builtin
def _check_poll(context: Context, pointer: tensor, timeout_ns: Any) -> None:
    """X0145 for what tl.atomic_poll does not poll, X0165 for time-outs."""
    element = checked_pointer("atomic_poll", pointer)
    if not element.is_integer or element.bits not in (16, 32, 64):
        raise fail(
            "X0145", f"tl.atomic_poll does not work on {element}", help="it takes integers of 16, 32, 64 bits"
        )
    if timeout_ns is not None:
        raise fail(
            "X0165",
            "tl.atomic_poll takes no timeout here: a kernel has no clock",
            help="leave timeout_ns out, or count the polls in a loop around tl.atomic_load",
        )
