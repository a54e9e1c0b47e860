"""A loop nest in C: scopes for code before, between and after the loops, and lane-by-lane evaluation of
values.

An `Index` says, for each dimension of a tile, which dimension of the nest's iteration space indexes it (-1:
its extent is 1, or it is at lane 0). A value whose index lacks the innermost, vectorised dimension is a
scalar of an outer scope.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.analysis.index_analysis import dimension_map
from xdsl_core.analysis.polynomial import Lane, Opaque, Polynomial, Symbol, Uniform
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, PointerType, TileType, Value, element_of
from xdsl_cpu_c.codegen import accesses
from xdsl_cpu_c.codegen.context import Buffer, Context, hint_of, literal, register_element
from xdsl_cpu_c.codegen.index_text import index_text
from xdsl_cpu_c.codegen.lanes import Lanes
from xdsl_cpu_c.codegen.lanewise import expression, splat
from xdsl_cpu_c.codegen.op_tables import C_TYPES
from xdsl_cpu_c.codegen.steps import Closure
from xdsl_cpu_c.codegen.writer import Lines

Index = tuple[int, ...]
LANE_COUNTS = (8, 16, 32)


class NestWriter:
    """Writes one loop nest over `shape`."""

    def __init__(self, context: Context, shape: tuple[int, ...], closure: Closure, made: set[Value]) -> None:
        self.context = context
        self.shape = shape
        self.made = made
        self.levels = [dim for dim, extent in enumerate(shape) if extent > 1]
        self.vector = self.levels[-1] if self.levels else None
        self.extent = shape[self.vector] if self.vector is not None else 1
        self.lanes = _lane_count(self.extent, closure) if self.vector is not None else 1
        self.before = [Lines() for _ in range(len(self.levels) + 1)]
        self.after = [Lines() for _ in range(len(self.levels) + 1)]
        self.ends: dict[int, str] = {}
        self.variables = {dim: context.names.fresh("ijklm"[min(dim, 4)]) for dim in self.levels}
        self.known: dict[tuple[Value, Index], Lanes] = {}
        self.named: dict[tuple[int, str], str] = {}
        self.row_ends: dict[str, int] = {}
        self.regular = True
        self.resting = ""
        self.rest: Lines | None = None
        self.states: dict[Op, tuple[str, ...]] = {}
        self.count = ""
        if self.extent % self.lanes:
            self.count = self.name(len(self.levels), "int", self._lanes_left(str(self.extent)), "n")

    @property
    def identity(self) -> Index:
        """The index of a tile that has the nest's own shape."""
        return tuple(dim if self.shape[dim] > 1 else -1 for dim in range(len(self.shape)))

    def scope(self, dims: Index | frozenset[int]) -> int:
        """Depth of the scope in which everything that `dims` index is known (0: before all loops)."""
        return max((self.levels.index(dim) + 1 for dim in dims if dim >= 0), default=0)

    def name(self, scope: int, c_type: str, text: str, hint: str) -> str:
        """A constant with value `text` in a scope; the same text gives the same name."""
        for outer in range(scope + 1):
            found = self.named.get((outer, text))
            if found is not None:
                return found
        self.named[scope, text] = self.emit(scope, c_type, text, hint)
        return self.named[scope, text]

    def emit(self, scope: int, c_type: str, text: str, hint: str, *, const: str = "") -> str:
        """A new variable with value `text` in a scope: for reads of memory, whose text does not say when."""
        fresh = self.context.names.fresh(hint)
        head = f"{const}{c_type}" if c_type.endswith("*") else f"const {c_type} "
        self.before[scope].add(f"{head}{fresh} = {text};")
        return fresh

    def scratch(self, c_type: str, hint: str) -> str:
        """An array of one vector's lanes, for collecting or spreading them."""
        fresh = self.context.names.fresh(hint)
        self.before[len(self.levels)].add(f"{c_type} {fresh}[{self.lanes}];")
        return fresh

    def vector_text(self, value: Lanes, scope: int) -> str:
        """`value` as a vector of the nest's lanes."""
        if value.lanes == self.lanes:
            return value.text
        text = splat(self.context, value, self.lanes)
        hint = f"{value.text}_all" if value.text.isidentifier() else "constant"
        return self.name(scope, f"{value.element}x{self.lanes}", text, hint)

    def evaluate(self, value: Value, index: Index) -> Lanes:
        """The lanes of a value at an index of the nest."""
        if not isinstance(value.type, TileType):
            return self._scalar(value)
        key = value, index
        found = self.known.get(key)
        if found is None:
            buffer = self.context.buffers.get(value) if value not in self.made else None
            found = self._read(value, buffer, index) if buffer is not None else self._compute(value, index)
            self.known[key] = found
        return found

    def polynomial(self, value: Polynomial) -> str:
        """The C text, of type int64_t, of a polynomial over iteration dimensions that has no vector lanes."""
        return index_text(value, self._symbol)

    def polynomial_scope(self, value: Polynomial) -> int:
        return self.scope(value.lane_dims())

    def in_iteration(self, value: Polynomial, index: Index) -> Polynomial:
        """A polynomial over a tile's dimensions, seen from the iteration space."""
        return value.map_dims(lambda dim: index[dim])

    def iota(self, element: str) -> str:
        """Vector of the lane numbers along the vectorised dimension."""
        assert self.vector is not None
        prefix = f"{element}x{self.lanes}"
        numbers = self.name(0, prefix, self.context.call(f"{prefix}_iota"), f"{element}_lanes")
        base = self.context.call(f"{prefix}_splat", f"({C_TYPES[element]}){self.variables[self.vector]}")
        return self.name(len(self.levels), prefix, self.context.call(f"{prefix}_add", base, numbers), "lane")

    def begin_rest(self) -> bool:
        """Start writing the loop over the lanes past the only row end, where no masked access reaches memory.

        What is loaded there is the fill, so most of the body does not change from lane to lane and the C
        compiler takes it out of the loop. False where rows have no common end.
        """
        if len(self.row_ends) != 1 or not self.regular or self.extent <= self.lanes:
            return False
        ((self.resting, scope),) = self.row_ends.items()
        assert self.vector is not None
        self.context.helpers["smaller"] = accesses.SMALLER
        text = f"smaller({self.resting}, {self.extent})"
        self.ends[self.vector] = self.name(scope, "int64_t", text, "active_end")
        inner = len(self.levels)
        self.active, self.before[inner] = self.before[inner], Lines()
        self.known = {key: lanes for key, lanes in self.known.items() if self.scope(key[1]) < inner}
        self.named = {key: name for key, name in self.named.items() if key[0] < inner}
        if self.count:
            self.count = self.name(inner, "int", self._lanes_left(str(self.extent)), "n")
        return True

    def end_rest(self) -> None:
        """The rest is written; go back to the loop over active lanes."""
        inner = len(self.levels)
        self.rest, self.before[inner] = self.before[inner], self.active

    def write(self, lines: Lines) -> None:
        """Put the scopes together into `lines`."""
        self._write_level(lines, 0)

    def _write_level(self, lines: Lines, level: int) -> None:
        lines.extend(self.before[level])
        if level < len(self.levels):
            dim = self.levels[level]
            variable, step = self.variables[dim], self.lanes if dim == self.vector else 1
            end = self.ends.get(dim, str(self.shape[dim]))
            advance = f"++{variable}" if step == 1 else f"{variable} += {step}"
            start = f"int64_t {variable} = 0"
            has_rest = dim == self.vector and self.rest is not None and bool(self.rest.lines)
            if has_rest:
                lines.add(f"{start};")
                start = ""
            with lines.block(f"for ({start}; {variable} < {end}; {advance})"):
                self._write_level(lines, level + 1)
            if has_rest and self.rest is not None:
                with lines.block(f"for (; {variable} < {self.extent}; {advance})"):
                    lines.extend(self.rest)
        lines.extend(self.after[level])

    def _lanes_left(self, end: str) -> str:
        assert self.vector is not None
        left = f"{end} - {self.variables[self.vector]}"
        self.context.helpers["lanes_left"] = LANES_LEFT
        return f"lanes_left({left}, {self.lanes})"

    def count_until(self, end: str) -> str:
        """Name of the number of lanes, 0 to all, before `end` in the current vector."""
        return self.name(len(self.levels), "int", self._lanes_left(end), "n")

    def _symbol(self, symbol: Symbol) -> str:
        if isinstance(symbol, Lane):
            return self.variables[symbol.dim]
        if isinstance(symbol, Uniform):
            return self.context.scalar(symbol.value)
        return self.opaque(symbol).text

    def opaque(self, symbol: Opaque) -> Lanes:
        """The lanes of a looked-up index."""
        return self.evaluate(symbol.value, symbol.dims)

    def _scalar(self, value: Value) -> Lanes:
        text = self.context.scalar(value)
        if isinstance(value.type, PointerType):
            return Lanes(text, 1, "i64", pointee=C_TYPES[value.type.pointee.name])
        return Lanes(text, 1, register_element(value.type), _is_bool(value))

    def _read(self, value: Value, buffer: Buffer, index: Index) -> Lanes:
        """Lanes from a buffer: a vector load, a strided load, or one element in an outer scope."""
        return accesses.read_buffer(self, value, buffer, index)

    def _compute(self, value: Value, index: Index) -> Lanes:
        op = value.defining_op
        assert op is not None
        rule = _RULES.get(op.definition)
        if rule is not None:
            return rule(self, op, index)
        mapping = dimension_map(op)
        if mapping is not None:
            rank = len(op.operands[0].type.shape)
            inner = tuple(index[mapping(dim)] if mapping(dim) >= 0 else -1 for dim in range(rank))
            return self.evaluate(op.operands[0], inner)
        return self._lanewise(op, index)

    def _lanewise(self, op: Op, index: Index) -> Lanes:
        arguments = [self.evaluate(operand, index) for operand in op.operands]
        lanes = max((argument.lanes for argument in arguments), default=1)
        scope = self.scope(index)
        if lanes > 1:
            texts = [self.vector_text(argument, scope) for argument in arguments]
        else:
            texts = [argument.text for argument in arguments]
        result = self._shape_of(op.result, lanes)
        text = expression(self.context, op, texts, lanes)
        return self._named(result, text, scope, hint_of(op.result))

    def _named(self, result: Lanes, text: str, scope: int, hint: str) -> Lanes:
        name = self.name(scope, result.c_type, text, hint)
        return Lanes(name, result.lanes, result.element, result.boolean, result.pointee)

    def _shape_of(self, value: Value, lanes: int) -> Lanes:
        element = element_of(value.type)
        pointee = C_TYPES[element.pointee.name] if isinstance(element, PointerType) and lanes == 1 else ""
        return Lanes("", lanes, register_element(value.type), _is_bool(value), pointee)


LANES_LEFT = """\
static inline int lanes_left(int64_t count, int lanes)
{
    return count <= 0 ? 0 : count < lanes ? (int)count : lanes;
}
"""


def _is_bool(value: Value) -> bool:
    element = element_of(value.type)
    return isinstance(element, DType) and element.is_bool


def _lane_count(extent: int, closure: Closure) -> int:
    """Lanes of a vector: 128 bytes of the widest element that is computed with, fewer for short rows."""
    wide = any(_is_wide(value) for value in closure.inline) or any(
        _is_wide(value) for value in closure.buffers
    )
    most = 16 if wide else 32
    return next((lanes for lanes in LANE_COUNTS if lanes >= min(extent, most)), most)


def _is_wide(value: Value) -> bool:
    element = element_of(value.type)
    return isinstance(element, DType) and element.is_float and element.bits == 64


def _constant(nest: NestWriter, op: Op, index: Index) -> Lanes:
    element = element_of(op.result.type)
    assert isinstance(element, DType)
    text = literal(op.attributes["value"], element)
    return Lanes(text, 1, register_element(op.result.type), element.is_bool)


def _arange(nest: NestWriter, op: Op, index: Index) -> Lanes:
    start = op.attributes["start"]
    if index[0] != nest.vector or index[0] < 0:
        lane = nest.variables[index[0]] if index[0] >= 0 else "0"
        text = f"(int32_t)({lane} + {start})" if start else f"(int32_t){lane}"
        return Lanes(text, 1, "i32")
    numbers = nest.iota("i32")
    if not start:
        return Lanes(numbers, nest.lanes, "i32")
    prefix = f"i32x{nest.lanes}"
    offset = nest.context.call(f"{prefix}_splat", str(start))
    text = nest.context.call(f"{prefix}_add", numbers, offset)
    return Lanes(nest.name(len(nest.levels), prefix, text, "lane"), nest.lanes, "i32")


def _splat(nest: NestWriter, op: Op, index: Index) -> Lanes:
    return nest.evaluate(op.operands[0], ())


def _reshape(nest: NestWriter, op: Op, index: Index) -> Lanes:
    """Only dimensions of extent 1 come or go: the others keep their order."""
    kept = [index[dim] for dim, extent in enumerate(op.result.type.shape) if extent > 1]
    inner = tuple(kept.pop(0) if extent > 1 else -1 for extent in op.operands[0].type.shape)
    return nest.evaluate(op.operands[0], inner)


def _load(nest: NestWriter, op: Op, index: Index) -> Lanes:
    return accesses.load(nest, op, index)


_RULES: MappingProxyType[object, Callable[[NestWriter, Op, Index], Lanes]] = MappingProxyType(
    {
        ops.Constant: _constant,
        ops.Arange: _arange,
        ops.Splat: _splat,
        ops.Reshape: _reshape,
        ops.Load: _load,
    }
)
