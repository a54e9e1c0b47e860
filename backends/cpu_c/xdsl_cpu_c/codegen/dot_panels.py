"""The packed right operand of a dot: where it lies, and how it gets there.

A rhs that is read from memory nothing in the kernel writes is kept: the next program often needs the same one
(programs of a matrix product that share a column of blocks, blocks of queries that share keys).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl_core.ir import Op, Trait
from xdsl_cpu_c import dot as kernels
from xdsl_cpu_c.codegen.context import Buffer, Context, element_bytes
from xdsl_cpu_c.codegen.dot_operands import MemoryOperand
from xdsl_cpu_c.codegen.op_tables import C_TYPES

_PACKED = """\
/* What the panels in one place were packed from. */
struct packed {
    const void *from;
    int64_t row_stride, col_stride;
    int k, n;
};

static inline int is_packed(struct packed *seen, const void *from, int64_t row_stride, int64_t col_stride,
                            int k, int n)
{
    const int same = seen->from == from && seen->row_stride == row_stride && seen->col_stride == col_stride
        && seen->k == k && seen->n == n;
    *seen = (struct packed){from, row_stride, col_stride, k, n};
    return same;
}
"""


def write_panels(
    context: Context,
    rhs: MemoryOperand,
    *,
    kind: str,
    extents: tuple[int, int],
    used: tuple[str, str],
    source: tuple[str, str, str],
    guard: str,
    evaluated: Callable[[], Buffer],
) -> str:
    """Pack a rhs that lies in memory; the C text of where the panels are.

    `extents` are those of the tile, k and n, `used` the ones in use as C text; `source` is the address of
    the first element and the two strides. Where `guard` does not hold, what `evaluated` writes is packed.
    """
    length = kernels.packed_length(*extents, kind, blocking=context.blocking)
    operand = kernels.CONTRACTIONS[kind].operand
    places = _places(context, rhs.load, length * element_bytes(operand))
    direct = f"{pack_function(context, rhs.element.name)}(%s, {', '.join((*source, *used))});"
    if places:
        panels, seen = _kept(context, length, operand, places, rhs.value.name or "rhs")
        found = f"is_packed({seen}, {', '.join((*source, *used))})"
    else:
        panels, found = borrowed_panels(context, extents, kind, rhs.value.name), ""

    def write_direct() -> None:
        if found:
            context.lines.add(f"if (!{found})")
        context.lines.add(("    " if found else "") + direct % panels)

    if not guard:
        write_direct()
        return panels
    with context.scope(f"if ({guard})", "} else {"):
        write_direct()
    with context.rest():
        if found:
            context.lines.add(f"{seen}->from = 0;")
        tile = evaluated()
        pack = pack_function(context, tile.element)
        context.lines.add(
            f"{pack}({panels}, {tile.name}, {tile.strides[0]}, {tile.strides[1]}, {', '.join(used)});"
        )
    return panels


def borrowed_panels(context: Context, extents: tuple[int, int], kind: str, hint: str) -> str:
    """Scratch memory for the packed rhs of one step."""
    operand = kernels.CONTRACTIONS[kind].operand
    length = kernels.packed_length(*extents, kind, blocking=context.blocking)
    return context.borrow((length,), operand, f"{hint or 'rhs'}_panels").name


def pack_function(context: Context, memory: str) -> str:
    """Name of the function that packs a rhs from memory of an element."""
    name, text = kernels.pack_function(memory, blocking=context.blocking)
    context.dot_sources.add(memory)
    context.helpers.setdefault(name, text)
    return name


def _places(context: Context, load: Op, size: int) -> int:
    """How many packed tiles of `size` bytes are kept for the next program; 0 where none may be."""
    if any(context.order.may_overlap(load, writer) for writer in _writers(load)):
        return 0
    return 1 if load.parent_op is None else max(1, context.blocking.kept_bytes // size)


def _writers(op: Op) -> Iterator[Op]:
    """The ops of the function that write memory."""
    while op.parent_op is not None:
        op = op.parent_op
    assert op.block is not None
    return (other for other in op.block.walk() if other.has(Trait.WRITES_MEMORY))


def _kept(context: Context, length: int, operand: str, places: int, hint: str) -> tuple[str, str]:
    """Panels that outlive the program: (where those of this step are, what is known of them).

    The n-th step of a program takes the n-th place, all that come after the last place share it.
    """
    context.helpers["packed"] = _PACKED
    kept = context.allocate((places * length,), operand, f"{hint}_kept").name
    about = context.names.fresh(f"{hint}_packed", owner=context.tiles)
    context.declarations.append(f"struct packed {about}[{places}] = {{{{0}}}};")
    c_type = C_TYPES[operand]
    if places == 1:
        return kept, about
    step = context.names.fresh(f"{hint}_step", owner=context.tiles)
    context.program_start.append(f"int {step} = 0;")
    panels, seen = context.names.fresh(f"{hint}_panels"), context.names.fresh(f"{hint}_seen")
    context.lines.add(f"{c_type} *const {panels} = {kept} + {step} * {length};")
    context.lines.add(f"struct packed *const {seen} = {about} + {step};")
    context.lines.add(f"{step} += {step} < {places - 1};")
    return panels, seen
