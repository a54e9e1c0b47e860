"""Element kinds of the vector library: what lives in registers, what lives in memory."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

LANES = (8, 16, 32)
CHUNK_BYTES = 32
CHUNK_MEMBERS = "abcdefgh"


@dataclass(frozen=True, slots=True)
class Element:
    """A register element: a scalar C type that vector lanes hold.

    `kind` is "f" (IEEE floating point), "i" (signed) or "u" (unsigned).
    """

    name: str
    c: str
    bits: int
    kind: str

    @property
    def suffix(self) -> str:
        """Suffix of a C literal and of the libm function for this element."""
        return "f" if self.name == "f32" else ""


def _by_name(rows: tuple[Element, ...]) -> MappingProxyType[str, Element]:
    return MappingProxyType({row.name: row for row in rows})


ELEMENTS = _by_name(
    (
        Element("f32", "float", 32, "f"),
        Element("f64", "double", 64, "f"),
        Element("i8", "int8_t", 8, "i"),
        Element("i16", "int16_t", 16, "i"),
        Element("i32", "int32_t", 32, "i"),
        Element("i64", "int64_t", 64, "i"),
        Element("u8", "uint8_t", 8, "u"),
        Element("u16", "uint16_t", 16, "u"),
        Element("u32", "uint32_t", 32, "u"),
        Element("u64", "uint64_t", 64, "u"),
    )
)

FLOATS = tuple(e for e in ELEMENTS.values() if e.kind == "f")
INTEGERS = tuple(e for e in ELEMENTS.values() if e.kind != "f")
SIGNED = tuple(e for e in ELEMENTS.values() if e.kind == "i")
UNSIGNED = tuple(e for e in ELEMENTS.values() if e.kind == "u")
ALL = tuple(ELEMENTS.values())


@dataclass(frozen=True, slots=True)
class NarrowFloat:
    """A floating-point format that exists in memory only; its values live in f32 registers.

    `top` names the meaning of the highest codes: "ieee" has infinities and NaNs in the last exponent, "fn"
    has one NaN magnitude (all ones) and no infinity, "fnuz" has one NaN (the code of -0), no infinity and no
    negative zero.  `saturates`: a finite value beyond `largest` becomes `largest`, not infinity.  One rule
    for all formats: f16 and bf16 overflow to infinity (IEEE 754); every 8-bit format saturates finite values;
    an infinity stays one where the format has it and saturates otherwise; NaN stays NaN.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    largest: float
    top: str
    saturates: bool

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def storage(self) -> Element:
        """The unsigned element that holds the encoding."""
        return ELEMENTS[f"u{self.bits}"]


# Formats: IEEE 754-2019 binary16; bfloat16 (the upper half of binary32); OCP 8-bit floating point
# specification rev. 1.0 (E4M3, E5M2); the fnuz kinds as MLIR's types Float8E4M3FNUZ, Float8E5M2FNUZ and
# Float8E4M3B11FNUZ.
NARROW_FLOATS = MappingProxyType(
    {
        row.name: row
        for row in (
            NarrowFloat("f16", 5, 10, 15, 65504.0, "ieee", False),
            NarrowFloat("bf16", 8, 7, 127, 3.3895313892515355e38, "ieee", False),
            NarrowFloat("f8e4m3fn", 4, 3, 7, 448.0, "fn", True),
            NarrowFloat("f8e5m2", 5, 2, 15, 57344.0, "ieee", True),
            NarrowFloat("f8e4m3fnuz", 4, 3, 8, 240.0, "fnuz", True),
            NarrowFloat("f8e5m2fnuz", 5, 2, 16, 57344.0, "fnuz", True),
            NarrowFloat("f8e4m3b11fnuz", 4, 3, 11, 30.0, "fnuz", True),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory element: its C type, and the register element its values are converted to."""

    name: str
    c: str
    register: Element


MEMORY = MappingProxyType(
    {e.name: Memory(e.name, e.c, e) for e in ELEMENTS.values()}
    | {n.name: Memory(n.name, n.storage.c, ELEMENTS["f32"]) for n in NARROW_FLOATS.values()}
    | {"i1": Memory("i1", "uint8_t", ELEMENTS["i32"])}
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A GNU vector type of at most 32 bytes, the unit that fits one machine register."""

    element: Element
    lanes: int

    @property
    def name(self) -> str:
        return f"{self.element.name}v{self.lanes}"

    @property
    def bytes(self) -> int:
        return self.lanes * self.element.bits // 8

    def of(self, element: Element) -> Chunk:
        """The chunk of as many bytes that holds another element."""
        return Chunk(element, self.bytes * 8 // element.bits)


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of `lanes` elements: a C struct of chunks, or the plain C scalar when `lanes` is 1."""

    element: Element
    lanes: int

    @property
    def name(self) -> str:
        """Prefix of function names."""
        return self.element.name if self.lanes == 1 else f"{self.element.name}x{self.lanes}"

    @property
    def c(self) -> str:
        """C type."""
        return self.element.c if self.lanes == 1 else self.name

    @property
    def chunk(self) -> Chunk:
        return Chunk(self.element, min(self.lanes, CHUNK_BYTES * 8 // self.element.bits))

    @property
    def members(self) -> str:
        """Names of the struct's members, one letter a chunk."""
        return CHUNK_MEMBERS[: self.lanes // self.chunk.lanes]

    def of(self, element: str) -> Vector:
        """The vector of as many lanes that holds another element."""
        return Vector(ELEMENTS[element], self.lanes)

    @property
    def signed(self) -> Vector:
        """The signed integer vector of equal width: what comparisons of chunks yield."""
        return self.of(f"i{self.element.bits}")

    @property
    def unsigned(self) -> Vector:
        return self.of(f"u{self.element.bits}")

    @property
    def mask(self) -> Vector:
        return self.of("i32")


def c_type(element: str, lanes: int) -> str:
    """C type of `lanes` register elements: a struct such as `f32x32`, or a scalar for one lane.

    Raises KeyError when the element is not a register element or the lane count is not 1, 8, 16 or 32.
    """
    if lanes not in (1, *LANES):
        raise KeyError(f"no vector type of {lanes} lanes; use one of 1, 8, 16, 32")
    if element not in ELEMENTS:
        raise KeyError(f"no register element {element!r}; use one of {', '.join(ELEMENTS)}")
    return Vector(ELEMENTS[element], lanes).c
