"""How a matrix product is cut for a machine's registers, and what its operands look like once packed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Contraction:
    """One kind of matrix product, named by its accumulator.

    Operands are packed as `operand` elements. A *unit* is what one lane of a multiply-add takes from an
    operand: `depth` consecutive values along k. `multiply_add` is its C text over accumulator `c`, lhs `a`
    and rhs `b`.
    """

    accumulator: str
    accumulator_c: str
    operand: str
    operand_c: str
    unit_c: str
    depth: int
    multiply_add: str

    @property
    def vector(self) -> str:
        """C type of a vector of accumulators, and of one of units."""
        return f"dot_{self.accumulator}"

    def round_up(self, k: int) -> int:
        """k rounded up to whole units."""
        return -(-k // self.depth) * self.depth


CONTRACTIONS: Mapping[str, Contraction] = MappingProxyType(
    {
        "f32": Contraction("f32", "float", "f32", "float", "float", 1, "{c} += {a} * {b}"),
        "f64": Contraction("f64", "double", "f64", "double", "double", 1, "{c} += {a} * {b}"),
        # Pairs of int16: one instruction multiplies both and adds the products, which int8 never overflows.
        "i32": Contraction(
            "i32", "int32_t", "i16", "int16_t", "dot_pair", 2, "{c} += dot_multiply_pairs({a}, {b})"
        ),
    }
)

UNIT_BYTES: Mapping[str, int] = MappingProxyType({"f32": 4, "f64": 8, "i32": 4})


@dataclass(frozen=True, slots=True)
class Blocking:
    """Vector size in bytes, rows of a register block, and vectors side by side in it (and in a packed panel).

    A block needs rows * vectors accumulators, `vectors` registers for rhs and one for lhs. `row_group` rows
    of lhs meet all panels before the next ones do: they stay in the first cache. Packed panels that the next
    program may need again take up to `kept_bytes`: a far cache is cheaper than packing again.
    """

    vector_bytes: int = 32
    rows: int = 4
    vectors: int = 2
    row_group: int = 16
    kept_bytes: int = 1 << 20

    def lanes(self, contraction: Contraction) -> int:
        """Accumulators in one vector."""
        return self.vector_bytes // UNIT_BYTES[contraction.accumulator]

    def panel(self, contraction: Contraction) -> int:
        """Columns of a packed panel."""
        return self.vectors * self.lanes(contraction)

    def row_blocks(self, m: int) -> tuple[int, ...]:
        """Heights of the register blocks that cover any number of rows up to m, highest first."""
        heights = [self.rows, *(height for height in (4, 2, 1) if height < self.rows)]
        return tuple(height for height in heights if height <= m)


# 8 accumulators keep two multiply-add units of 4 cycles latency busy, and 4 rows divide every power of two.
AVX2 = Blocking(vector_bytes=32, rows=4, vectors=2)
AVX512 = Blocking(vector_bytes=64, rows=8, vectors=2)
NEON = Blocking(vector_bytes=16, rows=4, vectors=4)
BASELINE = Blocking(vector_bytes=16, rows=4, vectors=2)


def blocking_for(vector_isa: tuple[str, ...]) -> Blocking:
    """Blocking for a machine with these instruction sets (names as in HostDescription)."""
    table = {"avx512f": AVX512, "avx2": AVX2, "neon": NEON}
    return next((blocking for name, blocking in table.items() if name in vector_isa), BASELINE)
