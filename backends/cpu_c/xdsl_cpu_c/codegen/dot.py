"""A dot in C: pack rhs into panels, take lhs in place where it lies well, run the micro-kernel on the valid
extents.
"""

from __future__ import annotations

import math

from xdsl_core.analysis.polynomial import Polynomial, Symbol, Uniform, number
from xdsl_core.ir import Block, Op, TileType, Trait, Value, dtype_of
from xdsl_cpu_c import dot as kernels
from xdsl_cpu_c.codegen.context import Buffer, Context, buffer_name
from xdsl_cpu_c.codegen.demand import demand_of
from xdsl_cpu_c.codegen.dot_edges import write_beyond_columns, write_beyond_rows
from xdsl_cpu_c.codegen.dot_operands import Guard, MemoryOperand, memory_operands
from xdsl_cpu_c.codegen.dot_panels import borrowed_panels, pack_function, write_panels
from xdsl_cpu_c.codegen.index_text import displaced, index_text
from xdsl_cpu_c.codegen.op_tables import C_TYPES, buffer_element
from xdsl_cpu_c.codegen.roots import Target, copy_buffer, write_value
from xdsl_cpu_c.codegen.rows import LARGER, SMALLER


def write_dot(context: Context, op: Op, target: Target) -> None:
    """Write one dot of rank 2 or 3 into the buffer of its result."""
    result = op.result
    assert isinstance(result.type, TileType)
    accumulator = op.operand("accumulator")
    factors = [context.buffers.get(op.operand(name)) for name in ("lhs", "rhs")]
    buffer = target(result, {held.name for held in factors if held is not None})
    _start(context, accumulator, buffer)
    context.buffers[result] = buffer
    element = buffer_element(dtype_of(op.operand("lhs").type))
    if (element, buffer.element) not in _KERNELS:
        _plain(context, op, buffer)
    elif len(result.type.shape) == 3:
        _batched(context, op, buffer)
    else:
        lhs, rhs = memory_operands(op, context.planner)
        _tile(context, op, buffer, lhs, rhs)


_KERNELS = frozenset({("f32", "f32"), ("f64", "f64"), ("i8", "i32")})


def _start(context: Context, accumulator: Value, buffer: Buffer) -> None:
    """Bring the accumulator into the buffer of the result, unless it is there."""
    held = context.buffers.get(accumulator)
    if held is not None:
        copy_buffer(context, buffer, held)
        return
    op = accumulator.defining_op
    assert op is not None
    assert op.has(Trait.CONSTANT)
    write_value(context, accumulator, buffer, context.planner.closure_of([accumulator], root=accumulator))


def _tile(
    context: Context, op: Op, buffer: Buffer, lhs: MemoryOperand | None, rhs: MemoryOperand | None
) -> None:
    m, n = buffer.shape
    k = op.operand("lhs").type.shape[1]
    lines, kind = context.lines, buffer.element
    asked = [_available(context, op, limits) for limits in demand_of(op.result, context.order)]
    rows = _extent(context, _both(lhs.limits[0] if lhs else (), asked[0]), m, "rows")
    columns = _extent(context, _both(rhs.limits[1] if rhs else (), asked[1]), n, "columns")
    limits = lhs.limits[1] if lhs else rhs.limits[0] if rhs else ()
    depth = _extent(context, limits, k, "depth")
    panels = _rhs(context, op.operand("rhs"), rhs, kind, (depth, columns))
    pointer, step = _lhs(context, op.operand("lhs"), lhs, (rows, depth), kind)
    name = _kernel(context, m, n, k, kind)
    lines.add(f"{name}({buffer.name}, {n}, {pointer}, {step}, {panels}, {rows}, {columns}, {depth});")
    if kind != "i32" and lhs is not None and not set(lhs.limits[0]) <= set(asked[0]):
        write_beyond_rows(context, name, kind, (m, n, k), (buffer.name, panels, rows, columns, depth))
    if kind != "i32" and rhs is not None and not set(rhs.limits[1]) <= set(asked[1]):
        arguments = (buffer.name, pointer, step, rows, columns, depth)
        write_beyond_columns(context, name, kind, (m, n, k), arguments)


def _kernel(context: Context, m: int, n: int, k: int, kind: str) -> str:
    name, text = kernels.dot_function(m, n, k, accumulator=kind, blocking=context.blocking)
    context.helpers.setdefault(name, text)
    return name


def _copy_rows(context: Context, memory: str) -> str:
    """Name of the function that copies a lhs from memory of an element into rows."""
    name, text = kernels.copy_rows_function(memory, blocking=context.blocking)
    context.dot_sources.add(memory)
    context.helpers.setdefault(name, text)
    return name


def _rhs(context: Context, value: Value, rhs: MemoryOperand | None, kind: str, used: tuple[str, str]) -> str:
    """Where the packed panels are; `used` are the extents k and n in use."""
    assert isinstance(value.type, TileType)
    k, n = value.type.shape
    if rhs is not None:
        source, strides = _address(context, rhs)
        return write_panels(
            context,
            rhs,
            kind=kind,
            extents=(k, n),
            used=used,
            source=(source, *strides),
            guard=_guard_text(context, rhs.guards, used),
            evaluated=lambda: _evaluated(context, value),
        )
    held = context.buffers[value]
    panels = borrowed_panels(context, (k, n), kind, value.name)
    pack = pack_function(context, held.element)
    context.lines.add(f"{pack}({panels}, {held.name}, {held.strides[0]}, {held.strides[1]}, {k}, {n});")
    return panels


def _lhs(
    context: Context, value: Value, lhs: MemoryOperand | None, used: tuple[str, str], kind: str
) -> tuple[str, str]:
    """(pointer to row-major operands, row stride): in place, or copied where the layout or the element asks
    for it. `used` are the extents m and k in use.
    """
    m, k = value.type.shape
    if lhs is None:
        held = context.buffers[value]
        if held.element == kernels.CONTRACTIONS[kind].operand and held.strides[1] == 1:
            return held.name, str(held.strides[0])
        return _copied_rows(context, held, kind)
    source, strides = _address(context, lhs)
    if lhs.element.name == kind and lhs.strides[1].constant == 1 and not lhs.guards:
        return source, strides[0]
    if lhs.element.name == kind and lhs.strides[1].constant == 1:
        return _in_place_or_evaluated(context, lhs, used)
    name, step = _row_space(context, m, k, kind, value.name)
    copy = _copy_rows(context, lhs.element.name)
    direct = f"{copy}({name}, {step}, {source}, {strides[0]}, {strides[1]}, {', '.join(used)});"
    if not lhs.guards:
        context.lines.add(direct)
        return name, str(step)
    context.lines.add(f"if ({_guard_text(context, lhs.guards, used)})")
    context.lines.add(f"    {direct}")
    with context.scope("else"):
        tile = _evaluated(context, value)
        copy = _copy_rows(context, tile.element)
        strides_text = f"{tile.strides[0]}, {tile.strides[1]}"
        context.lines.add(f"{copy}({name}, {step}, {tile.name}, {strides_text}, {', '.join(used)});")
    return name, str(step)


def _in_place_or_evaluated(context: Context, lhs: MemoryOperand, used: tuple[str, str]) -> tuple[str, str]:
    """Read in place while the guards hold; otherwise evaluate the tile into scratch memory."""
    source, strides = _address(context, lhs)
    pointer = context.names.fresh("lhs")
    stride = context.names.fresh("lhs_stride")
    c_type = C_TYPES[lhs.element.name]
    context.lines.add(f"const {c_type} *{pointer} = {source};")
    context.lines.add(f"int64_t {stride} = {strides[0]};")
    with context.scope(f"if (!({_guard_text(context, lhs.guards, used)}))"):
        tile = _evaluated(context, lhs.value)
        context.lines.add(f"{pointer} = {tile.name};")
        context.lines.add(f"{stride} = {tile.strides[0]};")
    return pointer, stride


def _evaluated(context: Context, value: Value) -> Buffer:
    """The tile in a buffer of its own, evaluated lane by lane here."""
    assert isinstance(value.type, TileType)
    buffer = context.borrow(value.type.shape, buffer_element(dtype_of(value.type)), buffer_name(value))
    write_value(context, value, buffer, context.planner.closure_of([value], root=value))
    return buffer


def _copied_rows(context: Context, held: Buffer, kind: str) -> tuple[str, str]:
    """A buffered lhs copied into operands of the micro-kernel: (pointer, row stride)."""
    m, k = held.shape
    name, step = _row_space(context, m, k, kind, "lhs")
    copy = _copy_rows(context, held.element)
    context.lines.add(f"{copy}({name}, {step}, {held.name}, {held.strides[0]}, {held.strides[1]}, {m}, {k});")
    return name, str(step)


def _row_space(context: Context, m: int, k: int, kind: str, hint: str) -> tuple[str, int]:
    contraction = kernels.CONTRACTIONS[kind]
    step = contraction.round_up(k)
    return context.borrow((m, step), contraction.operand, f"{hint or 'lhs'}_rows").name, step


def _address(context: Context, operand: MemoryOperand) -> tuple[str, tuple[str, str]]:
    source = displaced(context.scalar(operand.base), uniform_text(context, operand.rest))
    return source, (uniform_text(context, operand.strides[0]), uniform_text(context, operand.strides[1]))


def uniform_text(context: Context, value: Polynomial) -> str:
    """C text, of type int64_t, of a polynomial without lanes."""

    def name(symbol: Symbol) -> str:
        assert isinstance(symbol, Uniform)
        return context.scalar(symbol.value)

    return index_text(value, name)


def _extent(context: Context, limits: tuple[Polynomial, ...], extent: int, hint: str) -> str:
    """C text of the valid extent: the tile's, cut by the limits to 0 or more."""
    if not limits:
        return str(extent)
    context.helpers["smaller"] = SMALLER
    text = str(extent)
    for limit in limits:
        text = f"smaller({uniform_text(context, limit)}, {text})"
    context.helpers["larger"] = LARGER
    name = context.names.fresh(hint)
    context.lines.add(f"const int {name} = larger({text}, 0);")
    return name


def _guard_text(context: Context, guards: tuple[Guard, ...], used: tuple[str, str]) -> str:
    """C text of the guards; `used` are the extents of the operand in use."""
    parts = []
    for guard in guards:
        parts.append(f"{uniform_text(context, guard.low)} >= 0")
        extent = used[guard.dim]
        whole = extent.isdecimal()
        high = uniform_text(context, guard.low + number(int(extent)) if whole else guard.low)
        parts.append(
            f"{high}{'' if whole else f' + (int64_t){extent}'} <= {uniform_text(context, guard.limit)}"
        )
    return " && ".join(parts)


def _available(context: Context, op: Op, limits: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """Those limits whose values are computed before `op`, in blocks around it."""
    around: set[Block] = set()
    inner: Op | None = op
    while inner is not None:
        assert inner.block is not None
        around.add(inner.block)
        inner = inner.parent_op

    def is_there(symbol: Symbol) -> bool:
        if not isinstance(symbol, Uniform):
            return False
        owner = symbol.value.owner
        return (
            symbol.value in context.scalars and (owner if isinstance(owner, Block) else owner.block) in around
        )

    return tuple(limit for limit in limits if all(map(is_there, limit.symbols())))


def _both(limits: tuple[Polynomial, ...], more: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    return (*limits, *(limit for limit in more if limit not in limits))


def _batched(context: Context, op: Op, buffer: Buffer) -> None:
    batch, m, n = buffer.shape
    lhs, rhs = (context.buffers[op.operand(name)] for name in ("lhs", "rhs"))
    k = lhs.shape[2]
    kind = buffer.element
    panels = borrowed_panels(context, (k, n), kind, op.operand("rhs").name)
    pack = pack_function(context, rhs.element)
    name, step = _row_space(context, m, k, kind, "lhs")
    copy = _copy_rows(context, lhs.element)
    kernel = _kernel(context, m, n, k, kind)
    variable = context.names.fresh("batch")
    with context.scope(f"for (int64_t {variable} = 0; {variable} < {batch}; ++{variable})"):
        context.lines.add(f"{pack}({panels}, {rhs.name} + {k * n} * {variable}, {n}, 1, {k}, {n});")
        context.lines.add(f"{copy}({name}, {step}, {lhs.name} + {m * k} * {variable}, {k}, 1, {m}, {k});")
        call = (
            f"{kernel}({buffer.name} + {m * n} * {variable}, {n}, {name}, {step}, {panels}, {m}, {n}, {k});"
        )
        context.lines.add(call)


def _plain(context: Context, op: Op, buffer: Buffer) -> None:
    """Three loops over buffers, for element types that have no micro-kernel."""
    lhs, rhs = (context.buffers[op.operand(name)] for name in ("lhs", "rhs"))
    *batch, m, n = buffer.shape
    k = lhs.shape[-1]
    lines, c_type = context.lines, C_TYPES[buffer.element]
    b, i, j, d = (context.names.fresh(name) for name in ("batch", "i", "j", "d"))
    with (
        context.scope(f"for (int64_t {b} = 0; {b} < {math.prod(batch)}; ++{b})"),
        context.scope(f"for (int64_t {i} = 0; {i} < {m}; ++{i})"),
        context.scope(f"for (int64_t {d} = 0; {d} < {k}; ++{d})"),
    ):
        value = context.names.fresh("factor")
        lines.add(f"const {c_type} {value} = ({c_type}){lhs.name}[({b} * {m} + {i}) * {k} + {d}];")
        with context.scope(f"for (int64_t {j} = 0; {j} < {n}; ++{j})"):
            product = f"{value} * ({c_type}){rhs.name}[({b} * {k} + {d}) * {n} + {j}]"
            lines.add(f"{buffer.name}[({b} * {m} + {i}) * {n} + {j}] += {product};")
