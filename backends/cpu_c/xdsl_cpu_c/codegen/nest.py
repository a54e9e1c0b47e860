"""A loop nest in C: scopes for code before, between and after the loops, and lane-by-lane evaluation of
values.

An `Index` says, for each dimension of a tile, which dimension of the nest's iteration space indexes it (-1:
its extent is 1, or it is at lane 0). A value whose index lacks the innermost, vectorised dimension is a
scalar of an outer scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.analysis.index_analysis import dimension_map
from xdsl_core.analysis.polynomial import Lane, Opaque, Polynomial, Symbol, Uniform
from xdsl_core.dtypes import DType, i32
from xdsl_core.ir import Op, PointerType, TileType, Value, element_of
from xdsl_cpu_c.codegen import accesses, buffers, rows
from xdsl_cpu_c.codegen.context import Buffer, Context, hint_of, literal, register_element
from xdsl_cpu_c.codegen.index_text import index_text
from xdsl_cpu_c.codegen.lanes import Lanes
from xdsl_cpu_c.codegen.lanewise import expression, splat
from xdsl_cpu_c.codegen.op_tables import C_TYPES
from xdsl_cpu_c.codegen.steps import Closure
from xdsl_cpu_c.codegen.text import bare, infix, is_simple
from xdsl_cpu_c.codegen.writer import Lines

Index = tuple[int, ...]
LANE_COUNTS = (8, 16, 32)
_WORD = re.compile(r"\w+")


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
        self.kept: set[tuple[int, Polynomial]] = set()
        self.inner_names: list[str] = []
        self.scopes: dict[str, int] = {}
        self.variables: dict[int, str] = {}
        for level, dim in enumerate(self.levels):
            self.variables[dim] = self.fresh("ijklm"[min(dim, 4)], level + 1)
        self.known: dict[tuple[Value, Index], Lanes] = {}
        self.named: dict[tuple[int, str], str] = {}
        self.row_ends: dict[str, int] = {}
        self.regular = True
        self.resting = ""
        self.rest_start = ""
        self.rest: Lines | None = None
        self.states: dict[Op, tuple[str, ...]] = {}
        self.count = ""
        if self.extent % self.lanes:
            self.count = self.name(len(self.levels), "int", self._lanes_left(str(self.extent)), "count")

    @property
    def identity(self) -> Index:
        """The index of a tile that has the nest's own shape."""
        return tuple(dim if self.shape[dim] > 1 else -1 for dim in range(len(self.shape)))

    def scope(self, dims: Index | frozenset[int]) -> int:
        """Depth of the scope in which everything that `dims` index is known (0: before all loops)."""
        return max((self.levels.index(dim) + 1 for dim in dims if dim >= 0), default=0)

    def name(self, scope: int, c_type: str, text: str, hint: str) -> str:
        """A constant with value `text` in a scope; the same text gives the same name.

        What is known before all loops serves later loops of the same block of C, too.
        """
        if is_simple(text):
            return text
        for outer in range(1, scope + 1):
            found = self.named.get((outer, text))
            if found is not None:
                return found
        found = self.context.shared_name(text)
        if found is not None:
            return found
        known = self.emit(scope, c_type, text, hint)
        if scope:
            self.named[scope, text] = known
        else:
            self.context.shared[-1][text] = known
        return known

    def emit(self, scope: int, c_type: str, text: str, hint: str, *, const: str = "") -> str:
        """A new variable with value `text` in a scope: for reads of memory, whose text does not say when."""
        fresh = self.fresh(hint, scope)
        head = f"{const}{c_type}" if c_type.endswith("*") else f"const {c_type} "
        self.before[scope].add(f"{head}{fresh} = {bare(text)};")
        return fresh

    def fresh(self, hint: str, scope: int) -> str:
        """A name for a variable of a scope; those of loops end with the nest."""
        if not scope:
            return self.context.names.fresh(hint)
        fresh = self.context.names.fresh(hint, owner=self.inner_names)
        self.scopes[fresh] = scope
        return fresh

    def scope_of(self, text: str) -> int:
        """Depth of the scope in which everything that a C text mentions is known."""
        return max((self.scopes.get(word, 0) for word in _WORD.findall(text)), default=0)

    def scratch(self, c_type: str, hint: str, lines: Lines | None = None) -> str:
        """An array of one vector's lanes, for collecting or spreading them."""
        fresh = self.fresh(hint, len(self.levels))
        (lines or self.before[len(self.levels)]).add(f"{c_type} {fresh}[{self.lanes}];")
        return fresh

    def vector_text(self, value: Lanes) -> str:
        """`value` as a vector of the nest's lanes; a scalar is spread where it is known."""
        if value.lanes == self.lanes:
            return value.text
        text = splat(self.context, value, self.lanes)
        if value.literal:
            return text
        hint = f"{value.text}_all" if value.text.isidentifier() else "all"
        return self.name(self.scope_of(text), f"{value.element}x{self.lanes}", text, hint)

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
        self.context.helpers["smaller"] = rows.SMALLER
        text = f"smaller({self.resting}, {self.extent})"
        self.ends[self.vector] = self.name(scope, "int64_t", text, f"{self.variables[self.vector]}_end")
        inner = len(self.levels)
        self.active, self.before[inner] = self.before[inner], Lines()
        self._end_inner_names(inner)
        self.known = {key: lanes for key, lanes in self.known.items() if self.scope(key[1]) < inner}
        self.named = {key: name for key, name in self.named.items() if key[0] < inner}
        self.rest_start = self._first_of_rest(self.ends[self.vector])
        if self.count:
            self.count = self.name(inner, "int", self._lanes_left(str(self.extent)), "count")
        return True

    def _end_inner_names(self, inner: int) -> None:
        """The names in the loop over active lanes, its variable aside, may be used again in the rest."""
        ended = [
            name
            for name in self.inner_names
            if self.scopes[name] == inner and name not in self.variables.values()
        ]
        self.context.names.give_back(ended)
        self.inner_names = [name for name in self.inner_names if name not in ended]

    def end_rest(self) -> None:
        """The rest is written; go back to the loop over active lanes."""
        inner = len(self.levels)
        self.rest, self.before[inner] = self.before[inner], self.active

    def write(self, lines: Lines) -> None:
        """Put the scopes together into `lines`."""
        self._write_level(lines, 0)
        self.context.names.give_back(self.inner_names)

    def _write_level(self, lines: Lines, level: int) -> None:
        lines.extend(self.before[level])
        if level < len(self.levels):
            dim = self.levels[level]
            end = self.ends.get(dim, str(self.shape[dim]))
            with lines.block(self._head(dim, "0", end)):
                self._write_level(lines, level + 1)
            if dim == self.vector and self.rest is not None and self.rest.lines:
                self.context.helpers["next_vector"] = NEXT_VECTOR
                with lines.block(self._head(dim, self.rest_start, str(self.extent))):
                    lines.extend(self.rest)
        lines.extend(self.after[level])

    def _head(self, dim: int, start: str, end: str) -> str:
        variable, step = self.variables[dim], self.lanes if dim == self.vector else 1
        advance = f"++{variable}" if step == 1 else f"{variable} += {step}"
        return f"for (int64_t {variable} = {start}; {variable} < {end}; {advance})"

    def _first_of_rest(self, end: str) -> str:
        return f"next_vector({end}, {self.lanes})"

    def _lanes_left(self, end: str) -> str:
        assert self.vector is not None
        left = infix(end, "-", self.variables[self.vector])
        self.context.helpers["lanes_left"] = LANES_LEFT
        return f"lanes_left({left}, {self.lanes})"

    def count_until(self, end: str) -> str:
        """Name of the number of lanes, 0 to all, before `end` in the current vector."""
        return self.name(len(self.levels), "int", self._lanes_left(end), "count")

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
        return buffers.read_buffer(self, value, buffer, index)

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
            texts = [self.vector_text(argument) for argument in arguments]
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


NEXT_VECTOR = """\
/* Where the first vector starts that lies behind `end` as a whole. */
static inline int64_t next_vector(int64_t end, int lanes)
{
    return end <= 0 ? 0 : (end + lanes - 1) / lanes * lanes;
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
    return Lanes(text, 1, register_element(op.result.type), element.is_bool, literal=True)


def _arange(nest: NestWriter, op: Op, index: Index) -> Lanes:
    start = op.attributes["start"]
    if index[0] != nest.vector or index[0] < 0:
        if index[0] < 0:
            return Lanes(literal(start, i32), 1, "i32", literal=True)
        lane = nest.variables[index[0]]
        text = f"(int32_t)({lane} + {start})" if start else f"(int32_t){lane}"
        return Lanes(nest.name(nest.scope(index), "int32_t", text, "lane"), 1, "i32")
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
