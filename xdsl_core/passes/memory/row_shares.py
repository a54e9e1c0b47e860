"""Whether the vector cores of a group can each take some rows of the tiles of a function, and of which."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl_core.ir import Block, BufferType, Function, Op, Trait, Value, dtype_of
from xdsl_core.ops import CORE, For, If, Load, Store
from xdsl_core.ops.buffer import Compute, Copy, Fill, Iota, Read, View, Window, dense_strides
from xdsl_core.ops.task import Program
from xdsl_core.passes.memory.footprints import parameter_behind
from xdsl_core.passes.memory.liveness import root_of

# Row numbers, say, may also number columns: then lines of one dimension stay whole.
_LEAST_RANKS = (1, 2)
# What a core can do with its own rows alone; a read is of what every core has whole.
_BY_ROWS = (Compute, Copy, Fill, Iota, Read)


class _CannotShareError(Exception):
    """Something needs the rows of another core."""


@dataclass
class RowShares:
    """`split` are the allocations in the space `local` of which each of `parts` cores of a kind holds its
    share of the first dimension; `work` are the ops of those cores. What shared rows are computed from is
    shared too if it has `least_rank` dimensions; the rest each core has whole, and takes its rows from.
    """

    core: str
    local: str
    parts: int
    alignment: int
    least_rank: int
    work: list[Op] = field(default_factory=list)
    split: set[Op] = field(default_factory=set)

    def dimension(self, value: Value) -> int | None:
        """The dimension of a buffer value that walks the rows of a split allocation; None for others."""
        root = root_of(value)
        if root is None or root not in self.split:
            return None
        kind = root.result.type
        assert isinstance(kind, BufferType)
        rows, row = kind.shape[0], math.prod(kind.shape[1:])
        if value is root.result and rows % self.parts == 0:
            return 0
        view = value.defining_op
        if view is None or view.definition is not View or view.group("origins"):
            raise _CannotShareError
        shape, strides = value.type.shape, _strides(value)
        walks = [dim for dim, extent in enumerate(shape) if strides[dim] * (extent - 1) >= row]
        if len(walks) != 1 or view.attribute("offset") >= row:
            raise _CannotShareError
        (dim,) = walks
        if shape[dim] * strides[dim] != rows * row or rows % self.parts or shape[dim] % self.parts:
            raise _CannotShareError
        return dim

    def is_local(self, value: Value) -> bool:
        """Whether a value is a buffer where the cores of this kind work."""
        return isinstance(value.type, BufferType) and value.type.space == self.local


def row_shares(function: Function, *, core: str, local: str, parts: int, alignment: int) -> RowShares | None:
    """How the tiles of a function are shared by the cores of a kind; None if they cannot be.

    Shared are tiles that go to other kinds of cores or come from there, and all that is computed with them
    row by row. Whatever else a core needs it computes for itself. Each core must write its own rows of
    arguments only, and read none that another one may have written.
    """
    for least_rank in _LEAST_RANKS:
        found = _attempt(function, RowShares(core, local, parts, alignment, least_rank))
        if found is not None:
            return found
    return None


def _attempt(function: Function, shares: RowShares) -> RowShares | None:
    try:
        shares.work += _work(function, shares.core)
        shares.split.update(_handed_over(shares))
        while any(_spread(shares, op) for op in shares.work):
            pass
        for op in shares.work:
            _check(shares, op)
        _check_arguments(function, shares)
    except _CannotShareError:
        return None
    return shares if shares.split else None


def _work(function: Function, core: str) -> Iterator[Op]:
    for op in function.walk():
        mine = op.attributes.get("core") == core
        if op.definition is Store or (mine and op.definition not in _BY_ROWS):
            raise _CannotShareError
        if mine:
            yield op


def _handed_over(shares: RowShares) -> Iterator[Op]:
    """The allocations that copies fill from scratch in global memory, or empty to it."""
    for op in shares.work:
        if op.definition is Copy:
            ends = [op.operand(name) for name in ("destination", "source")]
            roots = [root for end in ends if (root := root_of(end)) is not None]
            local = [root for root in roots if shares.is_local(root.result)]
            if len(roots) == 2 and len(local) == 1:
                yield local[0]


def _strides(value: Value) -> Sequence[int]:
    op = value.defining_op
    if op is not None and op.definition is View:
        strides: Sequence[int] = op.attributes["strides"]
        return strides
    return dense_strides(value.type.shape)


def _axis(op: Op) -> int | None:
    """The axis that an op combines elements along; None if it works lane by lane."""
    if op.definition is not Compute or Trait.ELEMENTWISE in CORE[op.attributes["operation"]].traits:
        return None
    axis = (op.attribute("attributes") or {}).get("axis")
    if axis is None:
        raise _CannotShareError
    return int(axis)


def _buffers(shares: RowShares, op: Op) -> Iterator[tuple[Value, list[int]]]:
    """The buffers of an op in local memory, with the dimension of the work that each of theirs stands for.

    The work has the dimensions of the largest operand: of what is reduced, or of the result.
    """
    values = [value for value in op.operands if isinstance(value.type, BufferType)]
    rank = max(len(value.type.shape) for value in values)
    axis = _axis(op)
    for value in values:
        own = len(value.type.shape)
        dims = list(range(rank - own, rank))
        if axis is not None and own < rank:
            dims = [dim for dim in range(rank) if dim != axis]
        if shares.is_local(value):
            yield value, dims


def rows_of(shares: RowShares, op: Op) -> int | None:
    """The dimension of an op's work that is shared; None if each core does all of it."""
    found = {
        dims[dim] for value, dims in _buffers(shares, op) if (dim := shares.dimension(value)) is not None
    }
    if len(found) > 1 or (found and found == {_axis(op)}):
        raise _CannotShareError
    return found.pop() if found else None


def repeated(shares: RowShares, op: Op, rows: int) -> Iterator[tuple[int, Value, int]]:
    """The operands of an op that repeat elements along its rows: index, value and dimension."""
    return _with_rows(shares, op, rows, stepping=False)


def _with_rows(shares: RowShares, op: Op, rows: int, *, stepping: bool) -> Iterator[tuple[int, Value, int]]:
    """The local operands with several rows, all different ones or (if not `stepping`) all the same."""
    for value, dims in list(_buffers(shares, op)):
        dim = dims.index(rows) if rows in dims else -1
        if dim >= 0 and value.type.shape[dim] > 1 and bool(_strides(value)[dim]) == stepping:
            yield from ((index, value, dim) for index, each in enumerate(op.operands) if each is value)


def _spread(shares: RowShares, op: Op) -> bool:
    """Split what an op needs in shares because another of its operands is; whether there was anything."""
    rows = rows_of(shares, op)
    if rows is None:
        return False
    before = len(shares.split)
    written = _written(op)
    for _, value, _ in _with_rows(shares, op, rows, stepping=True):
        root = root_of(value)
        if root is not None and (value in written or len(root.result.type.shape) >= shares.least_rank):
            shares.split.add(root)
    return len(shares.split) > before


def _written(op: Op) -> list[Value]:
    """The buffers that an op writes."""
    names = {schema.name for schema in op.definition.operand_schema}
    return [value for name in ("destination", "destinations") if name in names for value in op.group(name)]


def taken(shares: RowShares, op: Op, rows: int) -> Iterator[tuple[int, Value, int]]:
    """The operands of which a core has all rows and needs its own: index, value and dimension."""
    for index, value, dim in _with_rows(shares, op, rows, stepping=True):
        root = root_of(value)
        if root is not None and root not in shares.split:
            yield index, value, dim


def _check(shares: RowShares, op: Op) -> None:
    rows = rows_of(shares, op)
    if op.definition is Read and rows is not None:
        raise _CannotShareError
    if rows is None and not all(shares.is_local(value) for value in _written(op)):
        raise _CannotShareError
    if rows is not None:
        for _, value, dim in taken(shares, op, rows):
            _check_taken(shares, value, dim)
    if op.definition is Copy and rows is not None:
        for value in op.operands[:2]:
            root = root_of(value)
            if not shares.is_local(value) and root is not None and value is not root.result:
                raise _CannotShareError


def _check_taken(shares: RowShares, value: Value, dim: int) -> None:
    """Whether a core's own rows are an operand that instructions take."""
    view = value.defining_op
    extent = value.type.shape[dim]
    step = extent // shares.parts * _strides(value)[dim] * dtype_of(value.type).bytes
    moved = view is not None and view.definition is View and view.group("origins")
    if extent % shares.parts or step % shares.alignment or moved:
        raise _CannotShareError


def _check_arguments(function: Function, shares: RowShares) -> None:
    """What a core writes of arguments, no other core may touch."""
    touched = [(op, value) for op in shares.work for value in op.operands if _is_window(value)]
    read = [parameter_behind(op.operand("pointer")) for op in function.walk() if op.definition is Load]
    for op, value in touched:
        if op.definition is not Copy or op.operand("destination") is not value:
            continue
        mine = _argument(value)
        others = [*read, *(_argument(other) for user, other in touched if user is not op)]
        if mine is None or any(other is None or other is mine for other in others) or not _runs_once(op):
            raise _CannotShareError


def _is_window(value: Value) -> bool:
    return value.defining_op is not None and value.defining_op.definition is Window


def _argument(window: Value) -> Value | None:
    op = window.defining_op
    assert op is not None
    return parameter_behind(op.operand("pointer"))


def _runs_once(op: Op) -> bool:
    """Whether an op runs at most once in a program of the kernel."""
    parent = op.parent_op
    while parent is not None and parent.definition is If:
        parent = parent.parent_op
    if parent is None:
        return True
    block: Block = parent.regions[0].block
    return parent.definition is For and any(inner.definition is Program for inner in block.ops)
