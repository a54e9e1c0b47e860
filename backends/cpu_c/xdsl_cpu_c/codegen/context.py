"""What all parts of the code generator share while one kernel is written."""

from __future__ import annotations

import linecache
import math
from dataclasses import dataclass, field

from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, PointerType, TileType, Type, Value, element_of, is_pointer
from xdsl_cpu_c.codegen.memory_order import MemoryOrder
from xdsl_cpu_c.codegen.op_tables import C_TYPES, buffer_element, register_of
from xdsl_cpu_c.codegen.plan import Planner
from xdsl_cpu_c.codegen.writer import Lines, Names
from xdsl_cpu_c.dot import Blocking

ALIGNMENT = 64
SLACK = 256  # bytes after each buffer that a full vector load (32 lanes of 8 bytes) may read


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tile in scratch memory: C pointer `name` to `element`s, `strides` in elements by dimension."""

    name: str
    element: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(slots=True)
class Context:
    """State of one kernel's generation."""

    analysis: IndexAnalysis
    order: MemoryOrder
    planner: Planner
    blocking: Blocking
    lines: Lines = field(default_factory=Lines)
    names: Names = field(default_factory=Names)
    scalars: dict[Value, str] = field(default_factory=dict)
    buffers: dict[Value, Buffer] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    dot_sources: set[str] = field(default_factory=set)
    declarations: list[str] = field(default_factory=list)
    scratch_bytes: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    free: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    failures: list[tuple[str, Op]] = field(default_factory=list)

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the vector library, which the kernel then includes."""
        self.functions[function] = None
        return f"{function}({', '.join(arguments)})"

    def scalar(self, value: Value) -> str:
        """C name of a scalar value that was already computed."""
        return self.scalars[value]

    def allocate(self, shape: tuple[int, ...], element: str, hint: str) -> Buffer:
        """Scratch memory for a tile, row-major; a block freed before is taken again where it fits exactly."""
        size = math.prod(shape) * element_bytes(element)
        reusable = self.free.get((element, size))
        name = reusable.pop() if reusable else self._declare(element, size, hint)
        return Buffer(name, element, shape, row_major(shape))

    def release(self, buffer: Buffer) -> None:
        """Let later buffers of the same size and element take this one's memory."""
        size = math.prod(buffer.shape) * element_bytes(buffer.element)
        free = self.free.setdefault((buffer.element, size), [])
        if buffer.name not in free:
            free.append(buffer.name)

    def _declare(self, element: str, size: int, hint: str) -> str:
        name = self.names.fresh(f"{hint or 'tile'}_tile")
        c_type = C_TYPES[element]
        self.declarations.append(f"{c_type} *const {name} = ({c_type} *)(scratch + {self.scratch_bytes});")
        self.sizes[name] = size
        self.scratch_bytes += -(-(size + SLACK) // ALIGNMENT) * ALIGNMENT
        return name


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


def hint_of(value: Value) -> str:
    """A name for a value: its own, else one that says how it was made."""
    op = value.defining_op
    if value.name or op is None:
        return value.name or "value"
    mnemonic = op.name.partition(".")[2].removeprefix("reduce_")
    first = op.operands[0].name if op.operands else ""
    return f"{first}_{mnemonic}" if first and is_pointer(value.type) else mnemonic


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
    if element.bits == 64:
        if number == element.lowest and element.is_signed:
            return "INT64_MIN"
        return f"UINT64_C({number})" if element.kind == "uint" else _signed(f"INT64_C({abs(number)})", number)
    if element.bits == 32 and element.is_signed and number == element.lowest:
        return "INT32_MIN"
    if element.kind == "uint" and element.bits == 32:
        return f"UINT32_C({number})"
    return _signed(str(abs(number)), number)


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


def source_comment(op: Op) -> str:
    """`// line: text` of the kernel line an op comes from; empty if unknown.

    A backslash at the end of the line would carry the comment on.
    """
    where = op.location.callers[-1] if op.location.callers else op.location
    text = linecache.getline(where.file, where.line).strip().rstrip("\\").rstrip()
    return f"// {where.line}: {text}" if text else ""
