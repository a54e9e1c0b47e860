"""Several parts of a buffer, so that iterations of a loop overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.dtypes import i64
from xdsl_core.ir import Block, BufferType, Builder, Function, Module, Op, Region, ScalarType, Value, dtype_of
from xdsl_core.ops import Add, Constant, For, Rem
from xdsl_core.ops.buffer import Allocate, Select
from xdsl_core.passes.memory.liveness import accesses_of
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.plan_memory import fits
from xdsl_core.target import TargetDescription


@dataclass(frozen=True)
class MultiBuffer:
    """Gives the buffers by which engines hand over work in a loop as many parts as iterations shall be in
    flight.

        control.for %lo, %hi, %step body (%i: i32) {
          %x = buffer.allocate {type = buffer<1024xf32, UB>}
          buffer.copy %x, ... {engine = "MTE2"}
          buffer.compute [%y], [%x] {operation = "tile.exp", engine = "V"}
        }
    ->
        %parts = buffer.allocate {type = buffer<1024xf32, UB>, copies = 2}
        control.for %lo, %hi, %step, inits = [%zero] body (%i: i32, %part: i64) {
          %x = buffer.select %parts, %part
          buffer.copy %x, ... {engine = "MTE2"}
          buffer.compute [%y], [%x] {operation = "tile.exp", engine = "V"}
          control.yield [%next]
        }

    While one part is computed with, the next one is loaded. A loop that says nothing itself gets `num_stages`
    parts, and fewer where memory or the target's flags would not suffice; buffers of a space in which they do
    not fit keep one. Inner loops come first. Scratch in global memory between cores is such a buffer too.
    """

    target: TargetDescription = field(repr=False)
    num_stages: int = 2
    name: ClassVar[str] = "multi_buffer"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            loops = [op for op in function.walk() if op.definition is For]
            for loop in reversed(loops):
                self._stage(function, loop)

    def _stage(self, function: Function, loop: Op) -> None:
        wanted = int(loop.attribute("num_stages") or self.num_stages)
        body = loop.region("body").block
        shared = [op for op in body.ops if op.definition is Allocate and _hands_over(op)]
        most = min(wanted, Machine(self.target).target.limits.get("event_flags", 8))
        several: list[Op] = []
        # flags tell parts apart by one number a loop: a space has as many parts as the fullest one, or one
        for buffers in _by_space(shared):
            for parts in (most,) if several else range(most, 1, -1):
                if self._try(function, loop, buffers, parts):
                    several += buffers
                    most = parts
                    break
        if several:
            _rotate(loop, several, most)

    def _try(self, function: Function, loop: Op, buffers: Sequence[Op], parts: int) -> bool:
        """Give the buffers so many parts before the loop, if everything fits then."""
        for op in buffers:
            op.attributes["copies"] = parts
        if _fits_outside(function, loop, buffers, self.target):
            return True
        for op in buffers:
            op.attributes.pop("copies")
        return False


def _by_space(buffers: Sequence[Op]) -> list[list[Op]]:
    """The buffers of each memory space, the space with the most bytes of them first."""
    found: dict[str, list[Op]] = {}
    for op in buffers:
        kind = op.result.type
        assert isinstance(kind, BufferType)
        found.setdefault(kind.space, []).append(op)
    return sorted(found.values(), key=lambda held: -sum(map(_bytes, held)))


def _bytes(allocation: Op) -> int:
    kind = allocation.result.type
    assert isinstance(kind, BufferType)
    return math.prod(kind.shape) * dtype_of(kind).bytes


def _hands_over(allocation: Op) -> bool:
    """Whether different engines touch a buffer that has one part."""
    if int(allocation.attribute("copies")) > 1:
        return False
    engines = {
        (user.attributes.get("core"), user.attributes.get("engine")) for user in accesses_of(allocation)
    }
    return len(engines) > 1


def _fits_outside(function: Function, loop: Op, shared: Sequence[Op], target: TargetDescription) -> bool:
    """Whether everything fits if the buffers live as long as the loop."""
    block = loop.region("body").block
    outer = loop.block
    assert outer is not None
    places = [block.ops.index(op) for op in shared]
    for op in shared:
        block.ops.remove(op)
        outer.insert(outer.ops.index(loop), op)
    if fits(function, target):
        return True
    for op in shared:
        outer.ops.remove(op)
    for place, op in sorted(zip(places, shared, strict=True), key=lambda pair: pair[0]):
        block.insert(place, op)
    return False


def _rotate(loop: Op, shared: Sequence[Op], parts: int) -> None:
    """Carry the number of the part through the loop, and select with it."""
    outer, body = loop.block, loop.region("body").block
    assert outer is not None
    before = Builder(outer, before=loop, location=loop.location)
    zero = before.value(Constant, value=0, type=ScalarType(i64))
    part = body.add_argument(ScalarType(i64), "part")
    first = Builder(body, before=body.ops[0], location=loop.location)
    for op in shared:
        users = [(index, user) for (_, index), user in op.result.uses.items()]
        chosen = first.value(Select, op.result, part)
        chosen.name = op.result.name
        for index, user in users:
            user.set_operand(index, chosen)
    end = body.ops[-1]
    last = Builder(body, before=end, location=loop.location)
    one = last.value(Constant, value=1, type=ScalarType(i64))
    count = last.value(Constant, value=parts, type=ScalarType(i64))
    following = last.value(Rem, last.value(Add, part, one), count)
    end.set_group("values", [*end.group("values"), following])
    _replace_loop(loop, outer, body, zero)


def _replace_loop(loop: Op, outer: Block, body: Block, start: Value) -> None:
    """The loop again, carrying one value more."""
    groups = [*loop.groups()[:-1], (*loop.group("inits"), start)]
    loop.regions = ()
    region = Region([body])
    kinds = [*(value.type for value in loop.results), start.type]
    made = Op(For, groups, kinds, loop.attributes, (region,), loop.location)
    outer.insert(outer.ops.index(loop), made)
    for old, new in zip(loop.results, made.results, strict=False):
        new.name = old.name
        old.replace_uses_with(new)
    loop.erase()
