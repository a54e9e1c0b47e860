"""Patterns that resolve control flow and masks whose outcome is known."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_core.ir.core import Block, Op, Value
from xdsl_core.ir.rewriter import Pattern, Rewriter
from xdsl_core.ir.types import dtype_of
from xdsl_core.ops.atomic import AtomicRmw
from xdsl_core.ops.control import For, If, While
from xdsl_core.ops.creation import Constant
from xdsl_core.ops.memory import Load, Store
from xdsl_core.passes.control_flow import YIELDED, flows, flows_of, source_values, target_values
from xdsl_core.passes.definitions import name_of
from xdsl_core.passes.evaluation import Evaluator


def branch_patterns(evaluator: Evaluator) -> dict[str, list[Pattern]]:
    """The patterns of this module, by op name."""
    patterns: dict[str, list[Pattern]] = {name: [forward_unchanged] for name in flows()}
    patterns[name_of(For)].append(_short_loop(evaluator))
    patterns[name_of(While)].append(_loop_that_stops(evaluator))
    patterns[name_of(If)].append(_known_branch(evaluator))
    # a load without other has undefined lanes where nothing is read: 0 will do
    for operation, fallback in ((Load, "other"), (Store, ""), (AtomicRmw, "")):
        patterns[name_of(operation)] = [_known_mask(fallback, evaluator)]
    return patterns


def forward_unchanged(op: Op, rewriter: Rewriter) -> bool:
    """A value that every source hands on unchanged is used directly.

    %r = control.for ..., inits = [%x] ... body (%i, %c) { control.yield [%c] }   ->   uses of %c and %r use
    %x
    """
    changed = False
    for flow in flows_of(op):
        columns = zip(*(source_values(op, source) for source in flow.sources), strict=True)
        for index, column in enumerate(list(columns)):
            targets = [target_values(op, target)[index] for target in flow.targets]
            origins = {value for value in column if value not in targets}
            if len(origins) != 1:
                continue
            (origin,) = origins
            if _is_inside(origin, op):
                continue
            for target in targets:
                if target.uses:
                    rewriter.replace_uses(target, origin)
                    changed = True
    return changed


def _is_inside(value: Value, op: Op) -> bool:
    """Whether a value is defined in a region of an op, or by the op itself."""
    owner = value.owner
    if owner is op:
        return True
    block = owner.block if isinstance(owner, Op) else owner
    while block is not None and block.region is not None:
        parent = block.region.parent
        if parent is op:
            return True
        block = parent.block if isinstance(parent, Op) else None
    return False


def _inline(op: Op, block: Block, arguments: Sequence[Value], rewriter: Rewriter) -> None:
    """Put a block in the place of its op; what it hands over are the op's results."""
    terminator = block.terminator
    assert terminator is not None
    rewriter.inline_block(block, op, arguments)
    rewriter.replace_op(op, terminator.group(YIELDED))


def _short_loop(evaluator: Evaluator) -> Pattern:
    def unroll_short_loop(op: Op, rewriter: Rewriter) -> bool:
        """A loop of no iteration gives its initial values; one of a single iteration is its body."""
        bounds = (evaluator.number(op.operand(name)) for name in ("lower", "upper", "step"))
        lower, upper, step = bounds
        if lower is None or upper is None:
            return False
        if lower >= upper:
            rewriter.replace_op(op, op.group("inits"))
            return True
        # the step is above zero, so the first one ends a loop over a single number
        if lower + (1 if step is None else step) < upper or (step is not None and step <= 0):
            return False
        _inline(op, op.region("body").block, (op.operand("lower"), *op.group("inits")), rewriter)
        return True

    return unroll_short_loop


def _known_branch(evaluator: Evaluator) -> Pattern:
    def take_known_branch(op: Op, rewriter: Rewriter) -> bool:
        """A branch on a constant is the region that runs."""
        condition = evaluator.number(op.operand("condition"))
        if condition is None:
            return False
        _inline(op, op.region("then" if condition else "otherwise").block, (), rewriter)
        return True

    return take_known_branch


def _loop_that_stops(evaluator: Evaluator) -> Pattern:
    def unroll_stopping_loop(op: Op, rewriter: Rewriter) -> bool:
        """A loop whose condition is never true is its test, run once."""
        block = op.region("before").block
        terminator = block.terminator
        if terminator is None or evaluator.number(terminator.operand("condition")) is not False:
            return False
        _inline(op, block, op.group("inits"), rewriter)
        return True

    return unroll_stopping_loop


def _known_mask(fallback: str, evaluator: Evaluator) -> Pattern:
    def drop_known_mask(op: Op, rewriter: Rewriter) -> bool:
        """A mask that is true everywhere is left out; an access that is masked off everywhere is none."""
        mask = op.optional("mask")
        known = None if mask is None else evaluator.number(mask)
        if known is None:
            return False
        if known:
            rewriter.set_group(op, "mask", ())
            if fallback:
                rewriter.set_group(op, fallback, ())
            return True
        given = op.optional(fallback) if fallback else None
        results = [_zero(value, op, rewriter) if given is None else given for value in op.results]
        rewriter.replace_op(op, results)
        return True

    return drop_known_mask


def _zero(value: Value, op: Op, rewriter: Rewriter) -> Value:
    dtype = dtype_of(value.type)
    zero = 0.0 if dtype.is_float else False if dtype.is_bool else 0
    return rewriter.before(op).value(Constant, value=zero, type=value.type)
