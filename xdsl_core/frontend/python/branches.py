"""`if` statements and conditional expressions, and functions that return from inside them.

Control flow stays structured. When one branch returns, the statements after the `if` move into the other one.
When a branch returns on some of its own paths only, a flag says so and guards what follows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl_core import ops
from xdsl_core.diagnostics import Location, error
from xdsl_core.dtypes import i1
from xdsl_core.frontend.python.dispatch import (
    Done,
    Maybe,
    Outcome,
    Rest,
    Returned,
    evaluate,
    execute,
    execute_inside,
)
from xdsl_core.frontend.python.frame import Frame, name_values
from xdsl_core.frontend.python.merging import Differ, Side, agree, flatten, form, rebuild, same
from xdsl_core.frontend.python.problems import BROKEN, Broken, Unusable
from xdsl_core.frontend.python.source import MISSING
from xdsl_core.ir import Block, Region
from xdsl_core.language.context import describe
from xdsl_core.language.semantics.arithmetic import logical_not
from xdsl_core.language.semantics.conversion import as_condition, constant
from xdsl_core.language.shape import scalar_of
from xdsl_core.language.values import tensor


@dataclass(slots=True)
class Branch:
    """One arm of a branch that has been built: its block, the variables at its end, and how it ends."""

    block: Block
    variables: dict[str, Any]
    definitions: dict[str, Location]
    outcome: Outcome

    @property
    def returns(self) -> bool:
        """True where nothing runs after it."""
        return isinstance(self.outcome, Returned)


def run_if(frame: Frame, node: ast.If, rest: Rest) -> Done | None:
    """Build an `if`; takes the rest of the list in where a branch may return."""
    condition = evaluate(frame, node.test)
    if not isinstance(condition, tensor):
        outcome = execute_inside(frame, node.body if condition else node.orelse)
        if outcome is None:
            return None
        return Done(guard(frame, node, outcome, rest))
    condition = condition_of(frame, node.test, condition)
    then = _arm(frame, lambda: execute_inside(frame, node.body))
    otherwise = _arm(frame, lambda: execute_inside(frame, node.orelse))
    if then.outcome is None and otherwise.outcome is None:
        merge(frame, node, condition, then, otherwise)
        return None
    if then.returns != otherwise.returns:
        still_open = otherwise if then.returns else then
        _go_on(frame, still_open, node, rest)
        return Done(merge(frame, node, condition, then, otherwise, keep=frame.continued > 0))
    outcome = merge(frame, node, condition, then, otherwise, keep=bool(rest) or frame.continued > 0)
    return Done(guard(frame, node, outcome, rest))


def condition_of(frame: Frame, node: ast.expr, value: tensor) -> tensor:
    """A scalar bool. X0123 for tiles of more than one element."""
    if value.numel != 1:
        raise frame.fail(
            node,
            "X0123",
            "a condition must be one value, not a tile",
            label=describe(value),
            help="choose lane by lane with tl.where, or reduce: tl.max((x > 0).to(tl.int32), axis=0) != 0",
        )
    return as_condition(frame.context, scalar_of(frame.context, value))


def _arm(frame: Frame, run: Callable[[], Outcome]) -> Branch:
    """Run something in a block and a copy of the variables of its own."""
    saved = frame.variables, frame.definitions
    frame.variables, frame.definitions = dict(frame.variables), dict(frame.definitions)
    block = Block()
    try:
        with frame.context.builder.at(block):
            outcome = run()
        return Branch(block, frame.variables, frame.definitions, outcome)
    finally:
        frame.variables, frame.definitions = saved


def _go_on(frame: Frame, branch: Branch, node: ast.stmt, rest: Rest) -> None:
    """Run the statements after the `if` at the end of one of its branches."""
    saved = frame.variables, frame.definitions
    frame.variables, frame.definitions = branch.variables, branch.definitions
    try:
        with frame.context.builder.at(branch.block):
            branch.outcome = guard(frame, node, branch.outcome, rest)
    finally:
        branch.variables, branch.definitions = frame.variables, frame.definitions
        frame.variables, frame.definitions = saved


def guard(frame: Frame, node: ast.stmt, outcome: Outcome, rest: Rest) -> Outcome:
    """Run the rest of a list unless the function has returned."""
    if outcome is None:
        return execute(frame, rest)
    if isinstance(outcome, Returned) or not rest:
        return outcome
    returned = outcome.value
    then = _arm(frame, lambda: Returned(returned))
    otherwise = _arm(frame, lambda: execute(frame, rest))
    return merge(frame, node, outcome.flag, then, otherwise, keep=frame.continued > 0)


def merge(
    frame: Frame, node: ast.stmt, condition: tensor, then: Branch, otherwise: Branch, *, keep: bool = True
) -> Outcome:
    """Build the op of a branch whose arms are done, and join what they leave behind.

    Variables are joined if they are to be kept: not if the function ends here.
    """
    joint = _Joint(frame, then, otherwise)
    outcome = joint.outcome(node, condition)
    if keep and not (then.returns and otherwise.returns):
        joint.variables(node)
    values = joint.build(condition)
    frame.variables = {name: values.pop(name, value) for name, value in joint.after.items()}
    frame.definitions = _joined_definitions(frame.definitions, then, otherwise)
    if outcome is None:
        return None
    value = values.get(_RESULT, joint.result)
    if isinstance(outcome, Returned):
        return Returned(value)
    return Maybe(values.get(_FLAG, outcome.flag), value)


def _joined_definitions(before: dict[str, Location], then: Branch, otherwise: Branch) -> dict[str, Location]:
    """Where variables got their values: in the first arm that gave them one, else before the branch."""
    found = dict(before)
    for branch in (otherwise, then):
        found.update(
            {name: place for name, place in branch.definitions.items() if before.get(name) is not place}
        )
    return found


# what an arm hands on beside variables; no variable has such names
_RESULT, _FLAG = "<result>", "<returned>"


class _Joint:
    """The values that two arms hand to what follows them."""

    def __init__(self, frame: Frame, then: Branch, otherwise: Branch) -> None:
        self.frame = frame
        self.then, self.otherwise = then, otherwise
        self.left = Side(frame.context, then.block)
        self.right = Side(frame.context, otherwise.block)
        self.pairs: dict[str, tuple[Any, Any]] = {}
        self.after: dict[str, Any] = {}
        self.result: Any = None

    def outcome(self, node: ast.stmt, condition: tensor) -> Outcome:
        """How the branch as a whole ends; asks for a result and a flag where they are needed."""
        first, second = self.then.outcome, self.otherwise.outcome
        if first is None and second is None:
            return None
        self._join_results(node, first, second)
        if isinstance(first, Returned) and isinstance(second, Returned):
            return Returned(None)
        if isinstance(first, Returned) and second is None:
            return Maybe(condition, None)
        if first is None and isinstance(second, Returned):
            return Maybe(logical_not(self.frame.context, condition), None)
        self.pairs[_FLAG] = (self._flag(first, self.left), self._flag(second, self.right))
        return Maybe(condition, None)

    def _flag(self, outcome: Outcome, side: Side) -> tensor:
        if isinstance(outcome, Maybe):
            return outcome.flag
        with self.frame.context.builder.at(side.block):
            return constant(self.frame.context, outcome is not None, i1)

    def _join_results(self, node: ast.stmt, first: Outcome, second: Outcome) -> None:
        if first is None:
            assert second is not None
            right = second.value
            left = self.left.placeholder(right)
        elif second is None:
            left = first.value
            right = self.right.placeholder(left)
        else:
            left, right = first.value, second.value
        if isinstance(left, Broken) or isinstance(right, Broken):
            self.result = BROKEN
            return
        try:
            pair = agree(left, right, self.left, self.right)
        except Differ:
            raise self.frame.fail(
                node,
                "X0139",
                f"{self.frame.source.name} returns different types",
                label=f"{form(left)} if the condition holds, else {form(right)}",
                help="cast the results to one dtype and broadcast them to one shape",
            ) from None
        if same(*pair):
            self.result = pair[0]
        else:
            self.pairs[_RESULT] = pair

    def variables(self, node: ast.stmt) -> None:
        """Join every variable that an arm knows."""
        names = dict.fromkeys((*self.then.variables, *self.otherwise.variables))
        for name in names:
            self.after[name] = self._variable(node, name)

    def _variable(self, node: ast.stmt, name: str) -> Any:
        left = self.then.variables.get(name, MISSING)
        right = self.otherwise.variables.get(name, MISSING)
        if self.then.returns and right is not MISSING:
            left = right if self._from_before(name, right) else self.left.placeholder(right)
        elif self.otherwise.returns and left is not MISSING:
            right = left if self._from_before(name, left) else self.right.placeholder(left)
        if left is right:
            return left
        for value in (left, right):
            if isinstance(value, Broken | Unusable):
                return value
        if left is MISSING or right is MISSING:
            return self._one_sided(node, name, self.then if right is MISSING else self.otherwise)
        return self._pair(node, name, left, right)

    def _from_before(self, name: str, value: Any) -> bool:
        return same(value, self.frame.variables.get(name, MISSING))

    def _pair(self, node: ast.stmt, name: str, left: Any, right: Any) -> Any:
        if same(left, right):
            return left
        fixed = name in self.frame.constants and not flatten(left) and not flatten(right)
        try:
            if fixed:
                raise Differ
            self.pairs[name] = agree(left, right, self.left, self.right)
        except Differ:
            return self._mismatch(name, left, right)
        return left

    def _mismatch(self, name: str, left: Any, right: Any) -> Unusable:
        problem = error(
            "X0124",
            f"{name} is different things, depending on a condition of the running kernel",
            label=f"{form(left)} or {form(right)}",
            help="give it one type on both paths: cast, or broadcast to one shape",
        )
        for branch, value in ((self.then, left), (self.otherwise, right)):
            place = branch.definitions.get(name) or self.frame.parameter_location(name)
            problem = problem.with_note("note", f"{form(value)} from here", place)
        return Unusable(problem)

    def _one_sided(self, node: ast.stmt, name: str, branch: Branch) -> Unusable:
        when = "holds" if branch is self.then else "does not hold"
        problem = error(
            "X0127",
            f"{name} may have no value here",
            label=f"it has one only if the condition in line {self.frame.locate(node).line} {when}",
            help=f"give {name} a value before the if, or in both branches",
        )
        return Unusable(problem.with_note("note", f"{name} gets a value here", branch.definitions.get(name)))

    def build(self, condition: tensor) -> dict[str, Any]:
        """The op, and the joined values by name."""
        context = self.frame.context
        arms = ((self.then.block, 0), (self.otherwise.block, 1))
        if not self.pairs and not self.then.block.ops and not self.otherwise.block.ops:
            return {}
        for block, side in arms:
            with context.builder.at(block):
                context.build(ops.Yield, [one for pair in self.pairs.values() for one in flatten(pair[side])])
        op = context.build(ops.If, condition, regions=[Region([block]) for block, _ in arms])
        handles = iter(op.results)
        values = {name: rebuild(pair[0], handles) for name, pair in self.pairs.items()}
        for name, value in values.items():
            name_values(value, name.strip("<>"))
        return values


def choose(frame: Frame, node: ast.IfExp, condition: tensor) -> Any:
    """`a if condition else b` with a condition of the running kernel. X0124 where a and b differ in type."""
    condition = condition_of(frame, node.test, condition)
    values: list[Any] = []

    def run(part: ast.expr) -> Callable[[], Outcome]:
        return lambda: values.append(evaluate(frame, part))

    then, otherwise = _arm(frame, run(node.body)), _arm(frame, run(node.orelse))
    joint = _Joint(frame, then, otherwise)
    try:
        left, right = agree(values[0], values[1], joint.left, joint.right)
    except Differ:
        raise frame.fail(
            node,
            "X0124",
            "both sides of a conditional expression must have one type",
            label=f"{form(values[0])} or {form(values[1])}",
            help="cast one side; lane by lane choices are made by tl.where",
        ) from None
    if same(left, right) and not then.block.ops and not otherwise.block.ops:
        return left
    joint.pairs[_RESULT] = (left, right)
    return joint.build(condition)[_RESULT]
