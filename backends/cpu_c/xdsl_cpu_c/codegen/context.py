"""What all parts of the code generator share while one kernel is written."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, PointerType, TileType, Type, Value, element_of, is_pointer
from xdsl_cpu_c.codegen.memory_order import MemoryOrder
from xdsl_cpu_c.codegen.op_tables import C_TYPES, buffer_element, register_of
from xdsl_cpu_c.codegen.plan import Planner
from xdsl_cpu_c.codegen.text import bare
from xdsl_cpu_c.codegen.writer import Lines, Names
from xdsl_cpu_c.dot import Blocking

ALIGNMENT = 64
SLACK = 256  # bytes after each buffer that a full vector load (32 lanes of 8 bytes) may read


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tile in scratch memory: C pointer `name` to `element`s, `strides` in elements by dimension.

    `place` is its offset there. Buffers of different names never share memory while both are in use.
    """

    name: str
    element: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    place: int


@dataclass(slots=True)
class Context:
    """State of one kernel's generation."""

    analysis: IndexAnalysis
    order: MemoryOrder
    planner: Planner
    blocking: Blocking
    file: str = ""
    lines: Lines = field(default_factory=Lines)
    names: Names = field(default_factory=Names)
    scalars: dict[Value, str] = field(default_factory=dict)
    buffers: dict[Value, Buffer] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    dot_sources: set[str] = field(default_factory=set)
    declarations: list[str] = field(default_factory=list)
    program_start: list[str] = field(default_factory=list)
    scratch_bytes: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    free: dict[int, list[int]] = field(default_factory=dict)
    shared: list[dict[str, str]] = field(default_factory=lambda: [{}])
    tiles: list[str] = field(default_factory=list)
    borrowed: list[Buffer] = field(default_factory=list)
    failures: list[tuple[str, Op]] = field(default_factory=list)

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the vector library, which the kernel then includes."""
        self.functions[function] = None
        return f"{function}({', '.join(map(bare, arguments))})"

    def scalar(self, value: Value) -> str:
        """C text of a scalar value that was already computed: a name, a number, or a term in parentheses."""
        return self.scalars[value]

    @contextmanager
    def scope(self, head: str, tail: str = "}") -> Iterator[None]:
        """A block of C with names of its own."""
        with self.lines.block(head, tail), self.frame():
            yield

    @contextmanager
    def rest(self) -> Iterator[None]:
        """What follows `} else {`, to the brace that ends it."""
        with self.lines.rest(), self.frame():
            yield

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Names and shared constants made inside end with it."""
        self.shared.append({})
        with self.names.frame():
            yield
        self.shared.pop()

    def shared_name(self, text: str) -> str | None:
        """The constant in an open block of C that holds `text`."""
        return next((found[text] for found in self.shared if text in found), None)

    def allocate(self, shape: tuple[int, ...], element: str, name: str) -> Buffer:
        """Scratch memory for a tile, row-major; a block freed before is taken again where it fits exactly."""
        size = math.prod(shape) * element_bytes(element)
        free = self.free.get(size)
        place = free.pop() if free else self._reserve(size)
        fresh = self.names.fresh(name, owner=self.tiles)
        c_type = C_TYPES[element]
        self.declarations.append(f"{c_type} *const {fresh} = ({c_type} *)(scratch + {place});")
        self.sizes[fresh] = size
        return Buffer(fresh, element, shape, row_major(shape), place)

    def borrow(self, shape: tuple[int, ...], element: str, name: str) -> Buffer:
        """Scratch memory until the end of the present step of the plan."""
        buffer = self.allocate(shape, element, name)
        self.borrowed.append(buffer)
        return buffer

    def give_back(self) -> None:
        """The step is over: what it borrowed can be used by others."""
        while self.borrowed:
            self.release(self.borrowed.pop())

    def release(self, buffer: Buffer) -> None:
        """Let later buffers of the same size take this one's memory."""
        free = self.free.setdefault(math.prod(buffer.shape) * element_bytes(buffer.element), [])
        if buffer.place not in free:
            free.append(buffer.place)

    def _reserve(self, size: int) -> int:
        place = self.scratch_bytes
        self.scratch_bytes += -(-(size + SLACK) // ALIGNMENT) * ALIGNMENT
        return place


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a dense row-major tile."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def element_bytes(element: str) -> int:
    """Bytes of a memory element."""
    digits = "".join(character for character in C_TYPES[element] if character.isdigit())
    return int(digits) // 8 if digits else {"float": 4, "double": 8}[C_TYPES[element]]


def tile_element(type: Type) -> str:
    """Memory element of a tile's buffer; pointers are 64-bit addresses."""
    element = element_of(type)
    return "i64" if isinstance(element, PointerType) else buffer_element(element)


def register_element(type: Type) -> str:
    """Register element of a value; pointers are 64-bit addresses."""
    element = element_of(type)
    return "i64" if isinstance(element, PointerType) else register_of(element)


# What the results of ops are called where the kernel gives them no name.
_NOUNS = MappingProxyType(
    {
        ops.Add: "sum",
        ops.Sub: "difference",
        ops.Mul: "product",
        ops.Div: "quotient",
        ops.Rem: "remainder",
        ops.Neg: "negative",
        ops.ArgMax: "largest",
        ops.ArgMin: "smallest",
    }
)


def hint_of(value: Value) -> str:
    """A name for a value: its own, else one that says what it is for or how it was made."""
    op = value.defining_op
    if value.name or op is None:
        return value.name or "value"
    if op.definition is ops.Cast:
        return hint_of(op.operands[0])
    purpose = "" if isinstance(value.type, TileType) else _purpose(value)
    if purpose:
        return purpose
    first = op.operands[0].name if op.operands else ""
    mnemonic = op.name.partition(".")[2].removeprefix("reduce_")
    if first and is_pointer(value.type):
        return f"{first}_{mnemonic}"
    return _NOUNS.get(op.definition, mnemonic)  # type: ignore[call-overload, no-any-return]


def _purpose(value: Value) -> str:
    """What the loops and the tiles that use a scalar make of it; empty where they differ."""
    found = {_part(user, index) for (_, index), user in value.uses.items()}
    return found.pop() if len(found) == 1 else ""


def _part(user: Op, index: int) -> str:
    if user.definition is ops.For and index in (1, 2):
        induction = user.region("body").block.arguments[0].name or "k"
        return f"{induction}_{('end', 'step')[index - 1]}"
    if user.definition is ops.Splat:
        names = {after.result.name for after in user.result.uses.values() if after.definition is ops.Add}
        return f"{names.pop()}_start" if len(names) == 1 and "" not in names else ""
    return ""


def buffer_name(value: Value) -> str:
    """A name for the buffer of a tile."""
    return f"{hint_of(value)}_buffer"


def scalar_c_type(type: Type) -> str:
    """C type of a scalar variable."""
    if is_pointer(type) and not isinstance(type, TileType):
        assert isinstance(type, PointerType)
        return f"{C_TYPES[type.pointee.name]} *"
    element = element_of(type)
    assert isinstance(element, DType)
    return "bool_t" if element.is_bool else C_TYPES[register_of(element)]


def literal(value: float | int | bool, element: DType) -> str:
    """A C literal of exactly this value; negative ones in parentheses."""
    if element.is_float:
        return _float_literal(float(value), "" if element.bits == 64 else "f")
    number = int(value)
    if number == element.lowest and element.is_signed and element.bits >= 32:
        return f"INT{element.bits}_MIN"
    if element.kind == "uint" and element.bits >= 32:
        return f"{number}u" if element.bits == 32 else f"UINT64_C({number})"
    wide = element.bits == 64 and abs(number) >> 31
    return _signed(f"INT64_C({abs(number)})" if wide else str(abs(number)), number)


def _signed(text: str, number: int) -> str:
    return f"(-{text})" if number < 0 else text


def _float_literal(value: float, suffix: str) -> str:
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        body = f"__builtin_inf{suffix}()"
    elif suffix:
        body = f"{abs(value):.9g}"
        body += ("" if any(mark in body for mark in ".e") else ".0") + "f"
    else:
        body = repr(abs(value))
    return f"(-{body})" if sign else body


def source_comment(op: Op, file: str) -> str:
    """`// line: text` of the kernel line an op comes from: in the kernel's own file, as far inside as can be.

    A backslash at the end of the line would carry the comment on.
    """
    places = (op.location, *op.location.callers)
    where = next((place for place in places if place.file == file), places[-1])
    text = linecache.getline(where.file, where.line).strip().rstrip("\\").rstrip()
    return f"// {where.line}: {text}" if text else ""
