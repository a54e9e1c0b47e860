"""Read-modify-write in one indivisible step."""

from __future__ import annotations

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.language.builtin import Builtin, builtin
from xdsl_core.language.context import Context, fail
from xdsl_core.language.memory import checked_option, checked_pointer, fitting, fitting_mask
from xdsl_core.language.semantics.conversion import converted
from xdsl_core.language.values import Operand, tensor

SEMANTICS = ("acq_rel", "acquire", "release", "relaxed")
SCOPES = ("gpu", "cta", "sys")
_BIT_KINDS = ("and", "or", "xor")


def checked_update(function: str, kind: str, element: DType) -> None:
    """X0145 where memory of this dtype cannot be updated in this way."""
    half_sum = kind == "add" and element in (dtypes.f16, dtypes.bf16)
    if (element.bits < 32 and not half_sum) or (element.is_float and kind in _BIT_KINDS):
        takes = "32- and 64-bit integers" + ("" if kind in _BIT_KINDS else " and floats")
        raise fail(
            "X0145",
            f"tl.{function} does not work on {element}",
            help=f"it takes {takes}{', f16 and bf16' if kind == 'add' else ''}",
        )


def _orders(function: str, sem: str | None, scope: str | None) -> dict[str, str | None]:
    return {
        "sem": checked_option(function, "sem", sem or SEMANTICS[0], SEMANTICS),
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
