"""The binary and unary operators: promotion, broadcasting, then one op."""

from __future__ import annotations

from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import PointerType, dtype_of, element_of
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.broadcasting import broadcast, broadcast_to, common_shape
from xdsl_core.language.semantics.conversion import as_condition, cast, constant, holds_pointers, to_tensor
from xdsl_core.language.semantics.promotion import computation_dtype, literal_dtype
from xdsl_core.language.values import Operand, PropagateNan, tensor


def unify(context: Context, *operands: Operand, division: bool = False) -> tuple[tensor, ...]:
    """All operands in their common dtype and shape. Python numbers do not widen tensors of their kind.

    X0119 for pointers, X0120 for mixed signs in a division, X0121 for literals out of range, X0122 for
    shapes.
    """
    element = _common_dtype(operands, division)
    shape = _common_shape(operands)
    return tuple(_in_form(context, operand, element, shape) for operand in operands)


def _common_dtype(operands: tuple[Operand, ...], division: bool) -> DType:
    strong: DType | None = None
    weak: DType | None = None
    for operand in operands:
        if isinstance(operand, tensor):
            dtype = _number_dtype(operand, operands)
            strong = dtype if strong is None else computation_dtype(strong, dtype, division=division)
        else:
            dtype = literal_dtype(operand)
            weak = dtype if weak is None else computation_dtype(weak, dtype, division=division)
    if strong is None or weak is None:
        only = strong if weak is None else weak
        assert only is not None
        return computation_dtype(only, only, division=division) if only.is_float else only
    return computation_dtype(strong, weak, weak_right=True, division=division)


def _number_dtype(operand: tensor, operands: tuple[Operand, ...]) -> DType:
    element = element_of(operand.handle.type)
    if isinstance(element, PointerType):
        raise fail(
            "X0119",
            "this operation does not work on pointers",
            label=", ".join(map(describe, operands)),
            help="pointers take + and - with integers, and comparisons after .to(tl.int64)",
        )
    return element


def _common_shape(operands: tuple[Operand, ...]) -> tuple[int, ...]:
    shapes = {operand.shape for operand in operands if isinstance(operand, tensor)}
    if len(shapes) <= 1:
        return shapes.pop() if shapes else ()
    shape = common_shape(*shapes)
    if shape is None:
        raise fail(
            "X0122",
            "the shapes do not agree",
            label=", ".join(describe(operand) for operand in operands if isinstance(operand, tensor)),
            help="extents must be equal or 1; add axes with x[:, None], or use tl.broadcast_to",
        )
    return shape


def _in_form(context: Context, operand: Operand, element: DType, shape: tuple[int, ...]) -> tensor:
    if isinstance(operand, tensor):
        return broadcast_to(context, cast(context, operand, element), shape)
    if element.kind == "uint" and operand < 0:
        raise fail(
            "X0121",
            f"the negative number {operand} meets unsigned values ({element})",
            help="cast one of them explicitly, for example with .to(tl.int32)",
        )
    return constant(context, operand, element, shape)


def _dtype(value: tensor) -> DType:
    return dtype_of(value.handle.type)


# a sum or difference of bools is one of their single bits, which wraps: exclusive or
_BOOL_FORMS: dict[Any, Any] = {
    ops.Add: ops.Xor,
    ops.Sub: ops.Xor,
    ops.Mul: ops.And,
    ops.Min: ops.And,
    ops.Max: ops.Or,
}


def _arithmetic(
    context: Context, definition: Any, left: Operand, right: Operand, **attributes: Any
) -> tensor:
    left, right = unify(context, left, right)
    if _dtype(left).is_bool:
        return context.emit(_BOOL_FORMS[definition], left, right)
    return context.emit(definition, left, right, **attributes)


def add(context: Context, left: Operand, right: Operand) -> tensor:
    """left + right; a pointer and an integer give the pointer that many elements on."""
    if isinstance(left, tensor) and holds_pointers(left):
        return offset(context, left, right)
    if isinstance(right, tensor) and holds_pointers(right):
        return offset(context, right, left)
    return _arithmetic(context, ops.Add, left, right)


def sub(context: Context, left: Operand, right: Operand) -> tensor:
    """left - right; a pointer minus an integer gives the pointer that many elements back."""
    if isinstance(left, tensor) and holds_pointers(left):
        return offset(context, left, negate(context, to_tensor(context, right)))
    return _arithmetic(context, ops.Sub, left, right)


def mul(context: Context, left: Operand, right: Operand) -> tensor:
    """left * right."""
    return _arithmetic(context, ops.Mul, left, right)


def offset(context: Context, pointer: tensor, distance: Operand) -> tensor:
    """The pointer `distance` elements on. X0119 where the distance is no integer."""
    amount = to_tensor(context, distance)
    element = element_of(amount.handle.type)
    if isinstance(element, PointerType) or element.is_float:
        what = (
            "two pointers cannot be added"
            if isinstance(element, PointerType)
            else f"a pointer takes no {element} offset"
        )
        raise fail(
            "X0119",
            what,
            label=f"{describe(pointer)}, {describe(amount)}",
            help="offsets are integers and count elements; cast with .to(tl.int32) or .to(tl.int64)",
        )
    if element.is_bool:
        amount = cast(context, amount, dtypes.i32)
    elif not element.is_signed and element.bits < 64:
        # an unsigned offset counts upwards: widen it before it is read as signed
        amount = cast(context, amount, dtypes.i64)
    pointer, amount = broadcast(context, pointer, amount)
    return context.emit(ops.Offset, pointer, amount)


def true_divide(context: Context, left: Operand, right: Operand) -> tensor:
    """left / right, in f32 (f64 if one operand is f64)."""
    left, right = unify(context, left, right, division=True)
    if not _dtype(left).is_float:
        left, right = (cast(context, operand, dtypes.f32) for operand in (left, right))
    return context.emit(ops.Div, left, right)


def floor_divide(context: Context, left: Operand, right: Operand) -> tensor:
    """left // right on integers, rounding toward zero as in C. X0119 on floats."""
    left, right = unify(context, left, right, division=True)
    if _dtype(left).is_float:
        raise fail(
            "X0119",
            "// works on integers",
            label=f"{describe(left)}, {describe(right)}",
            help="use tl.floor(x / y) for floats",
        )
    return _integer_division(context, ops.Div, left, right)


def remainder(context: Context, left: Operand, right: Operand) -> tensor:
    """left % right with the sign of left, as in C; floats are computed in f32 (f64 if one operand is f64)."""
    left, right = unify(context, left, right, division=True)
    if _dtype(left).is_float:
        return context.emit(ops.Rem, left, right)
    return _integer_division(context, ops.Rem, left, right)


def _integer_division(context: Context, definition: Any, left: tensor, right: tensor) -> tensor:
    if not _dtype(left).is_bool:
        return context.emit(definition, left, right)
    wide = context.emit(definition, *(cast(context, operand, dtypes.i32) for operand in (left, right)))
    return cast(context, wide, dtypes.i1)


def negate(context: Context, operand: tensor) -> tensor:
    """-operand; integers wrap."""
    if _number_dtype(operand, (operand,)).is_bool:
        return operand
    return context.emit(ops.Neg, operand)


def bitwise(definition: Any) -> Any:
    """The implementation of a bit operator over one op. X0119 on floats."""

    def apply(context: Context, left: Operand, right: Operand) -> tensor:
        left, right = unify(context, left, right)
        if _dtype(left).is_float:
            raise fail(
                "X0119",
                "bit operators work on integers and bools",
                label=f"{describe(left)}, {describe(right)}",
                help="reinterpret the bits first: x.to(tl.int32, bitcast=True)",
            )
        return context.emit(definition, left, right)

    return apply


bit_and, bit_or, bit_xor = bitwise(ops.And), bitwise(ops.Or), bitwise(ops.Xor)


def _shift(definition: Any) -> Any:
    on_integers = bitwise(definition)

    def apply(context: Context, left: Operand, right: Operand) -> tensor:
        left, right = unify(context, left, right)
        if not _dtype(left).is_bool:
            return on_integers(context, left, right)  # type: ignore[no-any-return]
        wide = on_integers(context, *(cast(context, operand, dtypes.i32) for operand in (left, right)))
        return cast(context, wide, dtypes.i1)

    return apply


shift_left, shift_right = _shift(ops.Shl), _shift(ops.Shr)


def invert(context: Context, operand: tensor) -> tensor:
    """~operand: all bits flipped. X0119 on floats."""
    if _number_dtype(operand, (operand,)).is_float:
        raise fail("X0119", "~ works on integers and bools", label=describe(operand), help="cast it first")
    return context.emit(ops.Not, operand)


def compare(definition: Any) -> Any:
    """The implementation of a comparison over one op; pointers compare by address."""

    def apply(context: Context, left: Operand, right: Operand) -> tensor:
        left, right = (_address(context, operand) for operand in (left, right))
        left, right = unify(context, left, right)
        return context.emit(definition, left, right)

    return apply


def _address(context: Context, operand: Operand) -> Operand:
    if isinstance(operand, tensor) and holds_pointers(operand):
        return context.emit(ops.PointerToInt, operand)
    return operand


equal, not_equal = compare(ops.Eq), compare(ops.Ne)
less, less_equal = compare(ops.Lt), compare(ops.Le)
greater, greater_equal = compare(ops.Gt), compare(ops.Ge)


def _logical(definition: Any) -> Any:
    def apply(context: Context, left: Operand, right: Operand) -> tensor:
        left, right = broadcast(context, truth(context, left), truth(context, right))
        return context.emit(definition, left, right)

    return apply


logical_and, logical_or = _logical(ops.And), _logical(ops.Or)


def truth(context: Context, operand: Operand) -> tensor:
    """A bool, or a scalar's `!= 0`. X0119 for tiles of anything but bool."""
    value = to_tensor(context, operand)
    if value.shape and element_of(value.handle.type) is not dtypes.i1:
        raise fail(
            "X0119",
            "and and or need bools",
            label=describe(value),
            help="compare first: (x != 0) & (y != 0)",
        )
    return as_condition(context, value)


def logical_not(context: Context, operand: tensor) -> tensor:
    """not operand, lane by lane: of bools the opposite, of numbers where they are 0, as in Python."""
    element = element_of(operand.handle.type)
    if element is dtypes.i1 or isinstance(element, PointerType):
        return context.emit(ops.Not, truth(context, operand))
    return equal(context, operand, 0)  # type: ignore[no-any-return]


def extremum(context: Context, definition: Any, left: Operand, right: Operand, nan: PropagateNan) -> tensor:
    """The smaller or larger operand (`ops.Min`, `ops.Max`)."""
    left, right = unify(context, left, right)
    if _dtype(left).is_float:
        return context.emit(definition, left, right, propagate_nan=nan is PropagateNan.ALL)
    return _arithmetic(context, definition, left, right)


def select(context: Context, condition: tensor, on_true: Operand, on_false: Operand) -> tensor:
    """on_true where the condition holds, else on_false; pointers must be of the same type."""
    condition = cast(context, condition, dtypes.i1)
    if any(isinstance(value, tensor) and holds_pointers(value) for value in (on_true, on_false)):
        left, right = _pointers(context, on_true, on_false)
    else:
        left, right = unify(context, on_true, on_false)
    condition, left, right = broadcast(context, condition, left, right)
    return context.emit(ops.Select, condition, left, right)


def _pointers(context: Context, left: Operand, right: Operand) -> tuple[tensor, tensor]:
    values = (to_tensor(context, left), to_tensor(context, right))
    if element_of(values[0].handle.type) != element_of(values[1].handle.type):
        raise fail(
            "X0119",
            "tl.where needs two pointers of one type",
            label=", ".join(map(describe, values)),
            help="cast one with .to(tl.pointer_type(...))",
        )
    return values
