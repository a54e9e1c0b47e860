"""The machine: what the references of ops may ask for while a program runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from xdsl_core.diagnostics import UNKNOWN, ExecutionError, Location, error
from xdsl_core.dtypes import DType
from xdsl_core.interp.memory import Memory
from xdsl_core.interp.plan import Plan
from xdsl_core.interp.poison import Poisoned, data_of
from xdsl_core.interp.races import Races
from xdsl_core.interp.text import format_value
from xdsl_core.ir.core import Region
from xdsl_core.ir.types import Element
from xdsl_core.ops.numerics import round_to


class Machine:
    """Runs the programs of one launch, one after the other.

    Values are numpy arrays (or numpy scalars), or `Poisoned` where lanes are undefined. References of ops
    that are not PURE get such values as they are and hand them to the methods below. `location` is the place
    of the op that runs.
    """

    def __init__(
        self,
        plan: Plan,
        memory: Memory,
        grid: tuple[int, int, int],
        *,
        races: Races | None = None,
        output: TextIO | None = None,
    ) -> None:
        self.plan = plan
        self.memory = memory
        self.grid = grid
        self.races = races
        self.output = output
        self.program = (0, 0, 0)
        self.location: Location = UNKNOWN
        self.frame: list[Any] = []

    def run_program(self, program: tuple[int, int, int], arguments: Sequence[Any]) -> None:
        """Run the kernel's block as the program at this place of the grid."""
        self.program = program
        self.frame = self.plan.fresh_frame(arguments)
        self.plan.body.run(self, self.frame)

    def program_id(self, axis: int) -> Any:
        return np.int32(self.program[axis])

    def num_programs(self, axis: int) -> Any:
        return np.int32(self.grid[axis])

    def run_region(self, region: Region, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run a region's block with these arguments; the operands of its terminator."""
        return self.plan.blocks[region].call(self, self.frame, arguments)

    def run_lanes(self, region: Region, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run a region of scalars once for every lane of arrays of one shape; arrays of that shape."""
        block = self.plan.blocks[region]
        shape = np.shape(arguments[0])
        if block.lanewise or not shape:
            found = block.call(self, self.frame, arguments)
            return tuple(np.broadcast_to(value, shape) for value in found)
        lanes = [
            block.call(self, self.frame, [argument[index] for argument in arguments])
            for index in np.ndindex(shape)
        ]
        return tuple(np.array(values).reshape(shape) for values in zip(*lanes, strict=True))

    def number(self, value: Any) -> Any:
        """A scalar that control flow depends on, as a Python number; ExecutionError X0403 if undefined."""
        self._expect_defined(value, None, "decides what runs next")
        return value.item()

    def iterations(self, lower: Any, upper: Any, step: Any) -> range:
        """The values of a loop's induction variable; ExecutionError X0407 if the step is not above zero."""
        start, end, stride = self.number(lower), self.number(upper), self.number(step)
        if stride <= 0:
            raise ExecutionError(
                error("X0407", f"the loop's step is {stride}", help="a run-time step must be above zero")
            )
        return range(start, end, stride)

    def load(self, pointer: Any, mask: Any, other: Any, pointee: DType) -> Any:
        """What the pointers point to; masked-off lanes get `other`, or are undefined."""
        addresses, active, lanes = self._active(pointer, mask)
        if mask is None:
            return self._read(addresses, pointee)
        out = np.zeros(np.shape(active), _wide(pointee)) if other is None else np.array(data_of(other))
        if addresses.size:
            out[lanes] = self._read(addresses, pointee)
        if self.races is None:
            return out
        if other is None:
            return out if active.all() else Poisoned(out, ~active, self.location)
        if isinstance(other, Poisoned) and (left := other.lanes & ~active).any():
            return Poisoned(out, left, other.origin)
        return out

    def store(self, pointer: Any, value: Any, mask: Any, pointee: DType) -> None:
        """Write the active lanes of a value to where the pointers point."""
        addresses, active, lanes = self._active(pointer, mask)
        if not addresses.size:
            return
        self._expect_defined(value, active, "is stored")
        values = np.asarray(data_of(value))[lanes]
        if self.races is not None:
            for segment, offsets, _ in self.memory.locate(addresses, pointee, "writes"):
                self.races.write(segment, offsets, pointee.bytes, self.location)
        self.memory.write(addresses, values, pointee)

    def atomic(
        self,
        pointer: Any,
        operands: Sequence[Any],
        mask: Any,
        pointee: DType,
        update: Callable[..., Any],
        *,
        orders: bool,
    ) -> Any:
        """Replace elements by `update(old, *operands)`, lanes with equal addresses one after the other; the
        old ones.

        `orders` says whether it orders other accesses of the programs that meet there.
        """
        addresses, active, lanes = self._active(pointer, mask)
        out = np.zeros(np.shape(active), _wide(pointee))
        for operand in operands:
            self._expect_defined(operand, active, "takes part in an atomic operation")
        if addresses.size:
            taken = [np.asarray(data_of(operand))[lanes].reshape(-1) for operand in operands]
            old = self._update(addresses.reshape(-1), taken, pointee, update, orders=orders)
            out[lanes] = old.reshape(np.shape(out[lanes]))
        if self.races is None or np.all(active):
            return out
        return Poisoned(out, ~active, self.location)

    def print(self, prefix: str, values: Sequence[tuple[Any, Element]], hexadecimal: bool) -> None:
        """One line a value: program id, prefix, all elements."""
        head = f"({', '.join(map(str, self.program))})" + (f" {prefix}" if prefix else "")
        for value, _ in values:
            self._expect_defined(value, None, "is printed")
        texts = [format_value(value, element, hexadecimal) for value, element in values]
        for line in [f"{head} {text}" for text in texts] or [head]:
            print(line, file=self.output or sys.stdout)

    def check(self, condition: Any, mask: Any, message: str) -> None:
        """ExecutionError X0405 unless the condition holds in all active lanes."""
        self._expect_defined(mask, None, "is a mask")
        active = np.ones(np.shape(data_of(condition)), bool) if mask is None else np.asarray(data_of(mask))
        self._expect_defined(condition, active, "is asserted")
        failed = np.argwhere(active & ~np.asarray(data_of(condition)))
        if len(failed):
            where = f"lane {tuple(map(int, failed[0]))}" if failed.shape[1] else "the value"
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            raise ExecutionError(
                error("X0405", f"assertion failed: {message}", label=f"false in {where}{more}")
            )

    def _active(self, pointer: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Addresses of the active lanes, which lanes are active, and how to pick them."""
        self._expect_defined(mask, None, "is a mask")
        addresses = np.asarray(data_of(pointer))
        if mask is None:
            self._expect_defined(pointer, None, "is an address")
            return addresses, np.broadcast_to(True, addresses.shape), ...
        active = np.asarray(data_of(mask))
        self._expect_defined(pointer, active, "is an address")
        return addresses[active], active, active

    def _read(self, addresses: Any, pointee: DType) -> Any:
        if self.races is not None:
            for segment, offsets, _ in self.memory.locate(addresses, pointee, "reads"):
                self.races.read(segment, offsets, pointee.bytes)
        found = self.memory.read(addresses, pointee)
        return found.astype(np.float64) if pointee.is_float else found

    def _update(
        self,
        addresses: Any,
        operands: Sequence[Any],
        pointee: DType,
        update: Callable[..., Any],
        *,
        orders: bool,
    ) -> Any:
        parts = self.memory.locate(addresses, pointee, "updates")
        for segment, offsets, _ in parts:
            if np.any((np.asarray(offsets) - segment.origin) % pointee.bytes):
                raise ExecutionError(
                    error(
                        "X0408",
                        f"an atomic operation on {segment.name} at an address that is no multiple of the "
                        f"element's {pointee.bytes} bytes",
                        help="move pointers by whole elements",
                    )
                )
            if orders and self.races is not None:
                self.races.synchronise(segment, offsets)
        old = np.zeros(addresses.shape, _wide(pointee))
        for turn in _turns(addresses):
            found = self.memory.read(addresses[turn], pointee)
            found = found.astype(np.float64) if pointee.is_float else found
            changed = update(found, *(operand[turn] for operand in operands))
            if pointee.is_float:
                changed = round_to(pointee, changed)
            self.memory.write(addresses[turn], changed, pointee)
            old[turn] = found
        return old

    def _expect_defined(self, value: Any, active: Any, use: str) -> None:
        """ExecutionError X0403 if an active lane (None: any lane) of a value is undefined."""
        if not isinstance(value, Poisoned):
            return
        lanes = value.lanes if active is None else value.lanes & active
        if not np.any(lanes):
            return
        place = np.argwhere(lanes)[0]
        lane = f"lane {', '.join(map(str, place))} of " if len(place) else ""
        found = error(
            "X0403",
            f"uninitialised read: {lane}a value that {use} was never loaded",
            help="give the load an `other`, or mask this use as the load is masked",
        )
        note = f"masked off in the load at {value.origin}, which has no `other`"
        raise ExecutionError(found.with_note("note", note, value.origin))


def _wide(dtype: DType) -> Any:
    """The numpy dtype that values of a dtype have inside the interpreter."""
    return np.dtype(np.float64) if dtype.is_float else dtype.numpy


def _turns(addresses: Any) -> list[Any]:
    """Lanes in groups without equal addresses, such that lanes of one address take turns in order."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    turn = np.empty(len(ordered), np.int64)
    turn[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return [np.flatnonzero(turn == number) for number in range(int(turn.max()) + 1)]
