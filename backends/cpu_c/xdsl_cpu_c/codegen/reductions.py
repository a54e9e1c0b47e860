"""Reductions inside a nest: along the vectorised dimension on vector accumulators, along others in the
result's buffer.
"""

from __future__ import annotations

from types import MappingProxyType

from xdsl_core.dtypes import DType, f32, f64
from xdsl_core.ir import Op, TileType, Value, dtype_of
from xdsl_cpu_c.codegen.buffers import buffer_index, read_buffer, write_buffer
from xdsl_cpu_c.codegen.context import hint_of, literal, scalar_c_type
from xdsl_cpu_c.codegen.conversions import round_to
from xdsl_cpu_c.codegen.lanes import Lanes, vector_name
from xdsl_cpu_c.codegen.nest import Index, NestWriter
from xdsl_cpu_c.codegen.op_tables import C_TYPES, REDUCTIONS, Reduction, is_narrow_float, register_of
from xdsl_cpu_c.codegen.rows import active_lanes

_NO_INDEX = "INT32_MAX"
_FLOATS = MappingProxyType({"f32": f32, "f64": f64})


def reduce(nest: NestWriter, op: Op) -> None:
    """Write one reduction whose source has the nest's shape."""
    row = REDUCTIONS[op.definition]  # type: ignore[index]
    axis = op.attributes["axis"]
    if nest.vector is not None and axis == nest.vector:
        _along_vector(nest, op, row)
    else:
        _across(nest, op, row)


def _start(op: Op, row: Reduction, element: DType) -> str:
    """The C constant that combining starts from, in the register form of `element`.

    For extremes that skip NaN it is NaN, which any number beats: a row of nothing but NaN stays NaN.
    """
    if element.is_bool:
        return {"zero": "0", "ones": "-1", "lowest": "0", "highest": "-1", "one": "-1"}[row.start]
    wide = register_of(element)
    if element.is_float:
        value = {"zero": 0.0, "one": 1.0, "lowest": float("-inf"), "highest": float("inf")}[row.start]
        if row.start in ("lowest", "highest") and not row.tracks_index and not op.attribute("propagate_nan"):
            value = float("nan")
        return literal(value, _FLOATS[wide])
    values = {"zero": 0, "one": 1, "lowest": element.lowest, "highest": element.highest}
    ones = -1 if element.is_signed else element.highest
    return literal(int(values.get(row.start, ones)), element)


def _functions(op: Op, row: Reduction) -> tuple[str, str]:
    """(function of two values, horizontal function); a bool's lanes are masks: max is or, min is and."""
    element = dtype_of(op.operands[0].type)
    suffix = ""
    if "propagate_nan" in (schema.name for schema in op.definition.attribute_schema):
        suffix = "_nan" if op.attribute("propagate_nan") and element.is_float else ""
    if element.is_bool:
        return _BOOLEAN.get(row.function, (row.function, row.horizontal))
    return row.function + suffix, row.horizontal + suffix


_BOOLEAN = {"max": ("or", "hor"), "min": ("and", "hand"), "mul": ("and", "hand")}


def _along_vector(nest: NestWriter, op: Op, row: Reduction) -> None:
    element = dtype_of(op.operands[0].type)
    register = register_of(element)
    prefix, inner = vector_name(register, nest.lanes), len(nest.levels)
    hint = hint_of(op.results[0])
    start = nest.context.call(f"{prefix}_splat", _start(op, row, element))
    if not nest.resting:
        nest.states[op] = tuple(nest.fresh(f"{name}_lanes", inner - 1) for name in (hint, "index"))
        nest.before[inner - 1].add(f"{prefix} {nest.states[op][0]} = {start};")
    best, where = nest.states[op]
    if row.tracks_index:
        _track(nest, op, row, best, where)
        return
    function, horizontal = _functions(op, row)
    value = _active_value(nest, op.operands[0], start)
    nest.before[inner].add(f"{best} = {nest.context.call(f'{prefix}_{function}', best, value)};")
    if nest.resting:
        return
    total = nest.context.call(f"{prefix}_{horizontal}", best)
    if element.is_bool:
        total = f"{total} != 0"
    elif is_narrow_float(element):
        total = round_to(nest.context, element.name, total, 1)
    _finish(nest, op.results[0], total, inner - 1)


def _active_value(nest: NestWriter, source: Value, neutral: str) -> str:
    """The source's lanes, with those past the end of a row replaced by the neutral element."""
    scope = len(nest.levels)
    lanes = nest.evaluate(source, nest.identity)
    text = nest.vector_text(lanes)
    if not nest.count:
        return text
    prefix = vector_name(lanes.element, nest.lanes)
    active = active_lanes(nest, nest.count)
    return nest.name(scope, prefix, nest.context.call(f"{prefix}_select", active, text, neutral), "inside")


def _track(nest: NestWriter, op: Op, row: Reduction, best: str, where: str) -> None:
    """argmax and argmin: a lane wins by a better value, or by an equal one at a smaller index; NaN never
    does.
    """
    element = dtype_of(op.operands[0].type)
    register = register_of(element)
    prefix, masks, inner = vector_name(register, nest.lanes), f"i32x{nest.lanes}", len(nest.levels)
    call = nest.context.call
    if not nest.resting:
        nest.before[inner - 1].add(f"{masks} {where} = {call(f'{masks}_splat', _NO_INDEX)};")
    value = nest.vector_text(nest.evaluate(op.operands[0], nest.identity))
    index = nest.iota("i32")
    better = call(f"{prefix}_{_order(row, element)}", value, best)
    equal = call(f"{masks}_and", call(f"{prefix}_eq", value, best), call(f"{masks}_lt", index, where))
    wins = call(f"{masks}_or", better, equal)
    if nest.count:
        wins = call(f"{masks}_and", wins, active_lanes(nest, nest.count))
    wins = nest.name(inner, masks, wins, "wins")
    nest.before[inner].add(f"{best} = {call(f'{prefix}_select', wins, value, best)};")
    nest.before[inner].add(f"{where} = {call(f'{masks}_select', wins, index, where)};")
    if nest.resting:
        return
    outer = nest.after[inner - 1]
    names = [nest.fresh(hint, inner - 1) for hint in ("winner", "winner_index")]
    c_type = C_TYPES[register]
    outer.add(f"{c_type} {names[0]};")
    outer.add(f"int32_t {names[1]} = {call(f'{prefix}_{row.horizontal}', best, where, f'&{names[0]}')};")
    if element.is_float:
        nan = literal(float("nan"), _FLOATS[register])
        outer.add(f"if ({names[1]} == {_NO_INDEX}) {{ {names[0]} = {nan}; {names[1]} = 0; }}")
    value_text = f"{names[0]} != 0" if element.is_bool else names[0]
    _finish(nest, op.results[0], value_text, inner - 1)
    _finish(nest, op.results[1], names[1], inner - 1)


def _order(row: Reduction, element: DType) -> str:
    """The comparison by which a lane wins; masks are ordered the other way round."""
    flipped = {"gt": "lt", "lt": "gt"}
    return flipped[row.function] if element.is_bool else row.function


def _finish(nest: NestWriter, value: Value, text: str, scope: int) -> None:
    """A row's result: a C variable behind the loop, or an element of the result's buffer."""
    lines = nest.after[scope]
    if not isinstance(value.type, TileType):
        name = nest.context.scalars[value] = nest.fresh(hint_of(value), scope)
        lines.add(f"const {scalar_c_type(value.type)} {name} = {text};")
        return
    buffer = nest.context.buffers[value]
    index = tuple(dim for dim in nest.identity if dim != nest.vector)
    lines.add(f"{buffer.name}[{buffer_index(nest, buffer, index)}] = {text};")


def _across(nest: NestWriter, op: Op, row: Reduction) -> None:
    """The reduced dimension is an outer loop (or has extent 1): the result's buffer holds what was combined
    so far.
    """
    axis = op.attributes["axis"]
    index: Index = tuple(dim for position, dim in enumerate(nest.identity) if position != axis)
    element = dtype_of(op.operands[0].type)
    if nest.vector is None:
        _single(nest, op, element)
        return
    register = register_of(element)
    prefix, inner = vector_name(register, nest.lanes), len(nest.levels)
    call = nest.context.call
    value = nest.vector_text(nest.evaluate(op.operands[0], nest.identity))
    first = f"{nest.variables[axis]} == 0" if axis in nest.variables else "1"
    held = read_buffer(nest, op.results[0], nest.context.buffers[op.results[0]], index).text
    if not row.tracks_index:
        function, _ = _functions(op, row)
        joined = call(f"{prefix}_{function}", held, value)
        name = nest.emit(inner, prefix, f"{first} ? {value} : {joined}", "joined")
        if is_narrow_float(element) and axis in nest.variables:
            # rounded once, at the end: a sum of many equal terms would stop growing
            last = f"{nest.variables[axis]} == {nest.shape[axis] - 1}"
            rounded = round_to(nest.context, element.name, name, nest.lanes)
            name = nest.emit(inner, prefix, f"{last} ? {rounded} : {name}", "joined")
        result = Lanes(name, nest.lanes, register, element.is_bool)
        write_buffer(nest, nest.context.buffers[op.results[0]], index, result)
        return
    masks = f"i32x{nest.lanes}"
    place = call(f"{masks}_splat", f"(int32_t){nest.variables[axis]}" if axis in nest.variables else "0")
    held_index = read_buffer(nest, op.results[1], nest.context.buffers[op.results[1]], index).text
    better = call(f"{prefix}_{_order(row, element)}", value, held)
    if element.is_float:
        unset = call(f"{masks}_and", call(f"{prefix}_ne", held, held), call(f"{prefix}_eq", value, value))
        better = call(f"{masks}_or", better, unset)
    whole = call(f"maskx{nest.lanes}_splat", first)
    wins = nest.emit(inner, masks, call(f"{masks}_or", whole, better), "wins")
    best = nest.emit(inner, prefix, call(f"{prefix}_select", wins, value, held), "best")
    where = nest.emit(inner, masks, call(f"{masks}_select", wins, place, held_index), "where")
    buffers = nest.context.buffers
    write_buffer(nest, buffers[op.results[0]], index, Lanes(best, nest.lanes, register, element.is_bool))
    write_buffer(nest, buffers[op.results[1]], index, Lanes(where, nest.lanes, "i32"))


def _single(nest: NestWriter, op: Op, element: DType) -> None:
    """A tile of one element is its own reduction."""
    value = nest.evaluate(op.operands[0], nest.identity)
    texts = [value.text, "0"]
    for result, text in zip(op.results, texts, strict=False):
        if isinstance(result.type, TileType):
            nest.before[0].add(f"{nest.context.buffers[result].name}[0] = {text};")
        else:
            nest.context.scalars[result] = nest.emit(0, scalar_c_type(result.type), text, hint_of(result))
