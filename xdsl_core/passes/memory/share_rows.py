"""The rows of tiles, shared among the vector cores beside a matrix core."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from xdsl_core.dtypes import i64
from xdsl_core.ir import BufferType, Builder, Function, Module, Op, ScalarType, Value
from xdsl_core.ops import Add, Cast, Constant, Max, Min, Mul, Offset, Sub
from xdsl_core.ops.buffer import Copy, Iota, View, Window, dense_strides
from xdsl_core.ops.task import Member
from xdsl_core.passes.memory.footprints import cores_of
from xdsl_core.passes.memory.liveness import root_of
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.prepare_for_overlap import add_for_overlap
from xdsl_core.passes.memory.row_shares import RowShares, repeated, row_shares, rows_of, taken
from xdsl_core.target import TargetDescription

SHARED = "shares_rows"


@dataclass(frozen=True)
class ShareRows:
    """Lets each vector core of a group compute its share of the rows, where nothing mixes rows.

        %scores = buffer.allocate {type = buffer<64x64xf32, UB>}
        buffer.copy %scores, %scratch {core = "AIV"}
        buffer.compute [%p], [%scores] {operation = "tile.exp", core = "AIV"}
    ->
        %member = task.member : i64
        %first = tile.mul %member, %thirty_two
        %scores = buffer.allocate {type = buffer<32x64xf32, UB>}
        %rows = buffer.view %scratch, origins = [%first, %zero] {shape = (32, 64), strides = (64, 1)}
        buffer.copy %scores, %rows {core = "AIV"}
        buffer.compute [%p], [%scores] {operation = "tile.exp", core = "AIV"}

    For kernels that use several kinds of cores; elsewhere every core runs programs of its own. Arguments that
    overlap would put one core's rows into another's: the function for those stays as it was.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "share_rows"

    def run(self, module: Module) -> None:
        machine = Machine(self.target)
        core = machine.core_of(machine.vector)
        parts = next(kind.per_group for kind in self.target.kinds if kind.name == core)
        if parts < 2:
            return
        for function in list(module.functions.values()):
            if len(cores_of(function, machine)) > 1:
                unit = machine.space(machine.local).alignment
                shares = row_shares(function, core=core, local=machine.local, parts=parts, alignment=unit)
                if shares is not None:
                    add_for_overlap(module, function)
                    _Rewriter(function, shares).run()
                    function.attributes[SHARED] = True


class _Rewriter:
    """Makes the ops of a function work on the rows of one core."""

    def __init__(self, function: Function, shares: RowShares) -> None:
        self.shares = shares
        top = function.block
        self.member = Builder(top, before=top.ops[0], location=function.location).value(Member)

    def run(self) -> None:
        shares = self.shares
        rows = {op: rows_of(shares, op) for op in shares.work}
        views = {
            view: shares.dimension(view.result)
            for root in shares.split
            for view in root.result.users
            if view.definition is View
        }
        for op, dim in rows.items():
            if dim is None:
                continue
            self._take_rows(op, dim)
            self._repeat_less(op, dim)
            if op.definition is Copy:
                self._copy(op, dim)
            elif op.definition is Iota and op.attribute("axis") == dim:
                self._iota(op)
        for root in shares.split:
            kind = root.result.type
            assert isinstance(kind, BufferType)
            root.result.type = replace(kind, shape=self._share(kind.shape, 0))
            root.attributes["type"] = root.result.type
        for view, dim in views.items():
            assert dim is not None
            view.attributes["shape"] = self._share(view.attributes["shape"], dim)
            (view.result.type,) = view.definition.infer(view.groups(), view.attributes, ())

    def _take_rows(self, op: Op, dim: int) -> None:
        """Let an op work on this core's rows of what each core has whole."""
        for index, value, own in list(taken(self.shares, op, dim)):
            root, view = root_of(value), value.defining_op
            assert root is not None
            assert view is not None
            builder = _before(op)
            shape = value.type.shape
            is_view = view.definition is View
            strides = view.attributes["strides"] if is_view else dense_strides(shape)
            start = builder.value(Mul, self._first(builder, shape[own]), _number(builder, strides[own]))
            # an allocation is one run of elements: count along its last dimension
            origins = [*(_number(builder, 0) for _ in root.result.type.shape[1:]), start]
            offset = int(view.attribute("offset")) if is_view else 0
            rows = builder.value(
                View, root.result, origins, shape=self._share(shape, own), strides=strides, offset=offset
            )
            op.set_operand(index, rows)

    def _repeat_less(self, op: Op, dim: int) -> None:
        """What is the same in every row is repeated for the rows of one core."""
        for index, value, own in list(repeated(self.shares, op, dim)):
            view = value.defining_op
            assert view is not None
            attributes = {**view.attributes, "shape": self._share(view.attributes["shape"], own)}
            op.set_operand(index, _before(op).create(View, view.groups(), attributes).result)

    def _share(self, shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
        return (*shape[:dim], shape[dim] // self.shares.parts, *shape[dim + 1 :])

    def _first(self, builder: Builder, extent: int) -> Value:
        """The number of this core's first row."""
        return builder.value(Mul, self.member, _number(builder, extent // self.shares.parts))

    def _copy(self, op: Op, dim: int) -> None:
        """Let the end in global memory be this core's rows, and as many of them as there are."""
        builder = _before(op)
        extent = op.operands[0].type.shape[dim]
        first = self._first(builder, extent)
        for index, value in enumerate(op.operands[:2]):
            if not self.shares.is_local(value):
                made = self._rows_of_scratch if root_of(value) is not None else self._rows_of_window
                op.set_operand(index, made(builder, value, dim, first))
        extents = list(op.group("extents"))
        if extents:
            most = _number(builder, extent // self.shares.parts)
            left = builder.value(Min, builder.value(Sub, extents[dim], first), most)
            extents[dim] = builder.value(Max, left, _number(builder, 0))
            op.set_group("extents", extents)

    def _rows_of_scratch(self, builder: Builder, scratch: Value, dim: int, first: Value) -> Value:
        shape = scratch.type.shape
        origins = [first if at == dim else _number(builder, 0) for at in range(len(shape))]
        strides = dense_strides(shape)
        return builder.value(View, scratch, origins, shape=self._share(shape, dim), strides=strides)

    def _rows_of_window(self, builder: Builder, window: Value, dim: int, first: Value) -> Value:
        op = window.defining_op
        assert op is not None
        strides = op.group("strides")
        elements = builder.value(Mul, first, strides[dim])
        pointer = builder.value(Offset, op.operand("pointer"), elements)
        attributes: dict[str, Any] = {**op.attributes, "shape": self._share(op.attributes["shape"], dim)}
        return builder.create(Window, [(pointer,), strides], attributes).result

    def _iota(self, op: Op) -> None:
        """Count from this core's first row on."""
        builder = _before(op)
        start = op.operand("start")
        first = self._first(builder, op.operand("destination").type.shape[op.attribute("axis")])
        if start.type != ScalarType(i64):
            first = builder.value(Cast, first, to=start.type.element)  # type: ignore[union-attr]
        op.set_operand(1, builder.value(Add, start, first))


def _before(op: Op) -> Builder:
    assert op.block is not None
    return Builder(op.block, before=op, location=op.location)


def _number(builder: Builder, value: int) -> Value:
    return builder.value(Constant, value=value, type=ScalarType(i64))
