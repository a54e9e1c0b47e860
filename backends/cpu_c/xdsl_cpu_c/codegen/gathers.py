"""Lanes at addresses of their own: what the access analysis could not make a row of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_core.analysis.access import Access, Irregular
from xdsl_core.analysis.polynomial import Lane, Monomial, Opaque, Polynomial, Uniform
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, pointee_of
from xdsl_cpu_c.codegen.op_tables import C_TYPES
from xdsl_cpu_c.codegen.rows import active_lanes, row_end, row_pointer, value_name

if TYPE_CHECKING:
    from xdsl_cpu_c.codegen.nest import Index, NestWriter


def gathered(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, fill: str
) -> tuple[str, str]:
    """(call that collects the lanes and gives a pointer to them, their mask as a vector or "")."""
    pointee = pointee_of(op.operand("pointer").type)
    base, offsets, mask = lane_addresses(nest, op, access, index, pointee)
    part = nest.scratch(C_TYPES[pointee.name], f"{value_name(op)}_part")
    lanes = str(nest.lanes)
    address = nest.context.call(f"gather_{pointee.name}", part, base, offsets, mask, fill, lanes)
    vector_mask = "" if mask == "0" else nest.context.call(f"load_i32_i32x{lanes}", mask)
    return address, vector_mask


def lane_addresses(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, pointee: DType
) -> tuple[str, str, str]:
    """(base pointer, name of an array of element offsets, name of an array of lane masks or "0")."""
    nest.regular = False
    scope, prefix = len(nest.levels), f"i64x{nest.lanes}"
    if isinstance(access, Irregular):
        addresses = nest.evaluate(op.operand("pointer"), index)
        text = nest.vector_text(addresses)
        size = pointee.bytes
        base = f"({C_TYPES[pointee.name]} *)0"
        if size > 1:
            first = nest.name(scope, "int64_t", nest.context.call(f"{prefix}_lane", text, "0"), "first")
            base = f"({C_TYPES[pointee.name]} *)(intptr_t)({first} & {size - 1})"
            shift = nest.context.call(f"{prefix}_splat", str(size.bit_length() - 1))
            text = nest.context.call(f"{prefix}_shr", text, shift)
    else:
        offset = nest.in_iteration(access.offset, index)
        vector_part, rest = _by_vector(offset, nest.vector)
        base = row_pointer(nest, access.base, rest)
        text = _vector_polynomial(nest, vector_part)
    offsets = nest.scratch("int64_t", "offsets")
    nest.before[scope].add(f"{nest.context.call(f'store_i64_{prefix}', offsets, text)};")
    return base, offsets, _lane_mask(nest, op, access, index)


def _lane_mask(nest: NestWriter, op: Op, access: Access | Irregular, index: Index) -> str:
    scope, prefix = len(nest.levels), f"i32x{nest.lanes}"
    active: list[str] = []
    mask = op.optional("mask")
    if mask is not None:
        end = None
        if not isinstance(access, Irregular) and access.bounds is not None:
            end = row_end(nest, access.bounds, index)
        if end is None:
            active.append(nest.vector_text(nest.evaluate(mask, index)))
        elif end:
            active.append(active_lanes(nest, nest.count_until(end)))
    if nest.count:
        active.append(active_lanes(nest, nest.count))
    if not active:
        return "0"
    text = active[0]
    for other in active[1:]:
        text = nest.context.call(f"{prefix}_and", text, other)
    array = nest.scratch("int32_t", "lane_mask")
    nest.before[scope].add(f"{nest.context.call(f'store_i32_{prefix}', array, text)};")
    return array


def _by_vector(offset: Polynomial, vector: int | None) -> tuple[Polynomial, Polynomial]:
    """(terms that change along the vectorised dimension, the other terms)."""
    moving: dict[Monomial, int] = {}
    fixed: dict[Monomial, int] = {}
    for monomial, coefficient in offset.terms.items():
        part = Polynomial({monomial: coefficient})
        (moving if vector in part.lane_dims() else fixed)[monomial] = coefficient
    return Polynomial(moving), Polynomial(fixed)


def _vector_polynomial(nest: NestWriter, value: Polynomial) -> str:
    """A polynomial with vector lanes, in 64-bit arithmetic."""
    scope, prefix = len(nest.levels), f"i64x{nest.lanes}"
    total = ""
    for monomial, coefficient in value.terms.items():
        product = ""
        for symbol in monomial:
            factor = _vector_symbol(nest, symbol)
            product = nest.context.call(f"{prefix}_mul", product, factor) if product else factor
        if coefficient != 1 or not product:
            constant = nest.context.call(f"{prefix}_splat", str(coefficient))
            product = nest.context.call(f"{prefix}_mul", product, constant) if product else constant
        total = nest.context.call(f"{prefix}_add", total, product) if total else product
    if not total:
        total = nest.context.call(f"{prefix}_zero")
    return nest.name(scope, prefix, total, "offset")


def _vector_symbol(nest: NestWriter, symbol: Lane | Uniform | Opaque) -> str:
    scope, prefix = len(nest.levels), f"i64x{nest.lanes}"
    if isinstance(symbol, Lane):
        if symbol.dim == nest.vector:
            return nest.iota("i64")
        return nest.context.call(f"{prefix}_splat", nest.variables[symbol.dim])
    if isinstance(symbol, Uniform):
        return nest.context.call(f"{prefix}_splat", f"(int64_t){nest.context.scalar(symbol.value)}")
    lanes = nest.opaque(symbol)
    if lanes.lanes == 1:
        return nest.context.call(f"{prefix}_splat", f"(int64_t){lanes.text}")
    text = nest.vector_text(lanes)
    if lanes.element == "i64":
        return text
    return nest.name(
        scope, prefix, nest.context.call(f"cast_{lanes.element}x{nest.lanes}_{prefix}", text), "wide"
    )
