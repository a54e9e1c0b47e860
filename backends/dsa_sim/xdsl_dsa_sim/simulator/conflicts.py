"""Bank conflicts of a vector unit: what a step costs more because its operands meet in the same banks.

The rule is that of the Ascend C kit's sample bank_conflict_ub: reads conflict in a bank group, a write, which
happens one step later, with reads of the same bank."""

from __future__ import annotations

from xdsl_dsa_sim.machine import VectorModel
from xdsl_dsa_sim.simulator.lanes import Iteration

# The pattern of groups repeats after as many steps as there are groups.
_SAMPLE = 16


def cycles_per_step(space: Iteration, steps: int, rate: float, model: VectorModel) -> float:
    """Cycles that bank conflicts add to an average step."""
    sources = [number for number in range(1, len(space.sizes)) if any(space.strides[number])]
    if (
        model.bank_groups <= 1
        or not sources
        or not space.contiguous
        or len(set(space.sizes)) > 1
        or not steps
    ):
        return 0.0
    width = max(1, int(rate // model.block))
    count = min(steps, _SAMPLE)
    total = 0.0
    for step in range(count):
        reads = [_blocks(space, number, step, width, model.block) for number in sources]
        total += max(_read_conflict(reads, model), _write_conflict(space, step, width, sources, model))
    return total / count


def _blocks(space: Iteration, operand: int, step: int, width: int, block: int) -> set[int]:
    """Numbers of the blocks of an operand that a step touches."""
    per_row = -(-space.inner * space.itemsize // block)
    found = set()
    for number in range(step * width, step * width + width):
        row, place = divmod(number, per_row)
        address = space.offsets[operand] + (place * block if space.strides[operand][-1] else 0)
        for extent, stride in zip(
            reversed(space.extents[:-1]), reversed(space.strides[operand][:-1]), strict=True
        ):
            row, index = divmod(row, extent)
            address += index * stride
        if row == 0:
            found.add(address // block)
    return found


def _read_conflict(reads: list[set[int]], model: VectorModel) -> float:
    """Cycles because sources want different blocks of one group."""
    wanted = set().union(*reads)
    groups = [number % model.bank_groups for number in wanted]
    most = max((groups.count(group) for group in set(groups)), default=1)
    if most <= 1:
        return 0.0
    repeats = any(len(blocks) == 1 for blocks in reads)
    return (most - 1) * (model.repeated_block if repeats else model.read_read)


def _write_conflict(space: Iteration, step: int, width: int, sources: list[int], model: VectorModel) -> float:
    """Cycles because the result of this step is written while the next step reads the same bank and group."""
    written = _places(_blocks(space, 0, step, width, model.block), model)
    read: set[tuple[int, int]] = set()
    for number in sources:
        read |= _places(_blocks(space, number, step + 1, width, model.block), model)
    return model.read_write if written & read else 0.0


def _places(blocks: set[int], model: VectorModel) -> set[tuple[int, int]]:
    """Bank and group of each block."""
    per_bank = model.bank_bytes // model.block
    return {(number // per_bank, number % model.bank_groups) for number in blocks}
