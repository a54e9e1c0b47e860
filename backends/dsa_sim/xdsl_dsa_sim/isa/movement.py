"""Instructions that move elements: along data paths, and one by one through addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.dtypes import DType
from xdsl_dsa_sim.isa.definition import (
    INDIRECT,
    LANES,
    MOVE,
    AttributeSpec,
    InstructionDef,
    number,
    reads,
    reads_either,
    updates,
    writes,
)
from xdsl_dsa_sim.isa.views import View, to_storage

ATOMIC_KINDS = ("add", "max", "min", "and", "or", "xor", "xchg")


def combine(kind: str, old: Any, new: Any) -> Any:
    """What an atomic operation leaves in memory, as a reference computes it (floats in float64)."""
    table = {
        "add": np.add,
        "max": np.fmax,
        "min": np.fmin,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    return new if kind == "xchg" else table[kind](old, new)


def _copy(destination: View, source: View, fill: Any, atomic: str) -> None:
    values = source.numbers()
    if fill is not None:
        padded = np.full(destination.shape, fill, values.dtype)
        padded[tuple(map(slice, values.shape))] = values
        values = padded
    if atomic:
        values = combine(atomic, destination.numbers(), values)
    if destination.dtype is source.dtype and not atomic:
        destination.write(values.astype(destination.dtype.numpy))
    else:
        destination.store(values)


def _gather(
    *, destination: View, base: int, offsets: View, mask: View | None, other: Any, memory: Any, scale: int
) -> None:
    active = np.ones(offsets.shape, bool) if mask is None else mask.read()
    addresses = base + offsets.read().astype(np.int64) * scale
    found = destination.read().copy()
    found[active] = memory.read(addresses[active], destination.dtype)
    if other is not None:
        filler = other.read() if isinstance(other, View) else to_storage(other, destination.dtype)
        found = np.where(active, found, filler)
    destination.write(found)


def _scatter(
    *, base: int, offsets: View, source: Any, mask: View | None, memory: Any, scale: int, dtype: DType
) -> None:
    active = np.ones(offsets.shape, bool) if mask is None else mask.read()
    addresses = base + offsets.read().astype(np.int64) * scale
    values = source.read() if isinstance(source, View) else np.full(offsets.shape, to_storage(source, dtype))
    memory.write(addresses[active], values[active], dtype)


def _atomic(
    *,
    destination: View | None,
    base: int,
    offsets: View,
    source: Any,
    compare: Any,
    mask: View | None,
    memory: Any,
    kind: str,
    scale: int,
    dtype: DType,
) -> None:
    active = np.ones(offsets.shape, bool) if mask is None else mask.read()
    addresses = base + offsets.read().astype(np.int64) * scale
    value = _lanes(source, offsets.shape, dtype)
    expected = None if compare is None else _lanes(compare, offsets.shape, dtype)
    old = np.zeros(offsets.shape, dtype.numpy)
    for lane in zip(*np.nonzero(active), strict=True):
        before = memory.read(addresses[lane], dtype)
        wide = np.float64(before) if dtype.is_float else before
        new = value[lane] if expected is not None else combine(kind, wide, value[lane])
        if expected is None or before.tobytes() == to_storage(expected[lane], dtype).tobytes():
            memory.write(addresses[lane], to_storage(new, dtype), dtype)
        old[lane] = before
    if destination is not None:
        destination.write(old)


def _lanes(operand: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    if isinstance(operand, View):
        return operand.numbers()
    return np.full(shape, operand, np.float64 if dtype.is_float else dtype.numpy)


_BASE = number("base", "address in global memory that offsets count from")
_OFFSETS = reads("offsets", "integers: each lane's distance from the base, in units of `scale` bytes")
_MASK = reads("mask", "i1: lanes that are 0 touch no global memory", optional=True)
_SCALE = AttributeSpec("scale", (int,), "bytes an offset of 1 stands for", 1)

MOVEMENT = (
    InstructionDef(
        name="copy",
        doc="""Copies a region along a data path of the core; shapes are equal.

        Both regions may be strided or in blocks, which is how a path changes the layout. With `fill` the
        destination may be larger than the source and the rest of it, at the high ends, becomes `fill`. Where
        the path converts, dtypes may differ: one rounding, as tile.cast. With `atomic` the destination is
        global memory, whose elements are combined with the source's indivisibly. `cache` "bypass" leaves no
        copy in L2.""",
        unit="path",
        operands=(writes("destination", "where elements go"), reads("source", "where they come from")),
        attributes=(
            AttributeSpec("fill", (int, float), "what the destination holds beyond the source's extents"),
            AttributeSpec(
                "atomic", (str,), "how elements are combined in global memory", "", ("", *ATOMIC_KINDS[:6])
            ),
            AttributeSpec("cache", (str,), "use of L2", "", ("", "bypass")),
        ),
        semantics=_copy,
        timing=MOVE,
        shapes="copy",
    ),
    InstructionDef(
        name="gather",
        doc="""Loads single elements of global memory: destination[lane] = memory[base + offsets[lane] *
        scale].

        Lanes masked off get `other`, or keep what the destination held.""",
        unit="path",
        operands=(
            writes("destination", "one element a lane"),
            _BASE,
            _OFFSETS,
            _MASK,
            reads_either("other", "what lanes that are masked off get", optional=True),
        ),
        attributes=(_SCALE,),
        semantics=_gather,
        timing=INDIRECT,
        shapes="same destination offsets mask other",
    ),
    InstructionDef(
        name="scatter",
        doc="""Stores single elements: memory[base + offsets[lane] * scale] = source[lane], the last lane
        wins.""",
        unit="path",
        operands=(_BASE, _OFFSETS, reads_either("source", "one element a lane, or one for all"), _MASK),
        attributes=(_SCALE,),
        typed=True,
        semantics=_scatter,
        timing=INDIRECT,
        shapes="same offsets source mask",
    ),
    InstructionDef(
        name="atomic",
        doc="""Updates single elements of global memory indivisibly, in the order of the lanes.

        Without `compare` the element becomes `kind`(old, source), else it becomes source where it has the
        bits of compare. The destination, if any, gets the old elements, 0 in lanes that are masked off.""",
        unit="path",
        operands=(
            writes("destination", "the old elements", optional=True),
            _BASE,
            _OFFSETS,
            reads_either("source", "one element a lane, or one for all"),
            reads_either("compare", "replaces only where this is found", optional=True),
            _MASK,
        ),
        attributes=(_SCALE, AttributeSpec("kind", (str,), "how elements are combined", "add", ATOMIC_KINDS)),
        typed=True,
        semantics=_atomic,
        timing=INDIRECT,
        shapes="same destination offsets source compare mask",
    ),
)


def _pick(destination: View, source: View, indices: View) -> None:
    destination.write(source.read().reshape(-1)[indices.read()])


def _place(destination: View, source: View, indices: View) -> None:
    flat = destination.read().reshape(-1).copy()
    flat[indices.read().reshape(-1)] = source.read().reshape(-1)
    destination.write(flat.reshape(destination.shape))


LOCAL_INDEXING = (
    InstructionDef(
        name="pick",
        doc="""Gathers within local memory: destination[lane] = source[indices[lane]], indices into the flat
        source.""",
        unit="vector",
        operands=(
            writes("destination", "one element a lane"),
            reads("source", "where elements are taken from"),
            reads("indices", "integers: positions in the source, last extent fastest"),
        ),
        semantics=_pick,
        timing=LANES,
        shapes="same destination indices",
    ),
    InstructionDef(
        name="place",
        doc="""Scatters within local memory: destination[indices[lane]] = source[lane], the last lane
        wins.""",
        unit="vector",
        operands=(
            updates("destination", "where elements go; the others stay"),
            reads("source", "one element a lane"),
            reads("indices", "integers: positions in the destination, last extent fastest"),
        ),
        semantics=_place,
        timing=LANES,
        shapes="same source indices",
    ),
)
