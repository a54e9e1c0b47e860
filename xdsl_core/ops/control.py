"""Structured control flow: loops, branches, and the ops that end a block."""

from __future__ import annotations

from functools import partial
from typing import Any

from xdsl_core.dtypes import i32
from xdsl_core.ir.builder import Builder
from xdsl_core.ir.core import Block, Op, Region
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import BOOL, ScalarType, Type, dtype_of
from xdsl_core.opdef import (
    ErrorSample,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    region,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import Anything, Bool, Integer, scalar
from xdsl_core.opdef.rules import yields
from xdsl_core.ops._shared import parse_types
from xdsl_core.ops.arithmetic import Add
from xdsl_core.ops.comparison import Lt
from xdsl_core.ops.creation import Constant

_I32 = ScalarType(i32)


@op("control.yield", since="0.1", profile="core", traits=(Trait.TERMINATOR,))
class Yield:
    """Ends a region and hands values to the op around it."""

    values = operand(Anything, doc="what the region gives", variadic=True)
    samples = (Sample({"values": ()}), Sample({"values": ("i32", "tile<4xf32>")}))

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute() -> None:
        """Never run: the machine hands the operands of a terminator to the op around the region."""


@op("control.condition", since="0.1", profile="core", traits=(Trait.TERMINATOR,))
class Condition:
    """Ends the region `before` of a `control.while`: whether to go on, and the values that go on."""

    condition = operand(
        scalar(Bool), doc="true to run the region `after` with the values, false to leave the loop"
    )
    values = operand(Anything, doc="arguments of the next region, or results of the loop", variadic=True)
    samples = (Sample({"condition": "i1", "values": ()}), Sample({"condition": "i1", "values": ("i64",)}))

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute() -> None:
        """Never run: the machine hands the operands of a terminator to the op around the region."""


@op("control.return", since="0.1", profile="core", traits=(Trait.TERMINATOR,))
class Return:
    """Ends a kernel. The program is done; others go on."""

    samples = (Sample({}),)

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute() -> None:
        """Never run: the machine stops at the end of the kernel's block."""


def _sum_body() -> Region:
    """A loop body that adds the induction variable to what is carried."""
    block = Block([_I32, _I32], ["i", "total"])
    builder = Builder(block)
    builder.build(Yield, builder.value(Add, *block.arguments))
    return Region([block])


def _passes_on(*arguments: Type, values: int | None = None) -> Region:
    """A region that yields its arguments, or the first `values` of them."""
    block = Block(arguments)
    Builder(block).build(Yield, tuple(block.arguments[:values]))
    return Region([block])


def _carry(kind: str) -> Region:
    """A loop body that hands on a tile and a bool, whatever the induction variable is."""
    block = Block(parse_types(kind, "tile<5xf32>", "i1"))
    builder = Builder(block)
    builder.build(Yield, (builder.value(Add, block.arguments[1], block.arguments[1]), block.arguments[2]))
    return Region([block])


@op("control.for", since="0.1", profile="core", traits=(Trait.CONTROL,))
class For:
    """Runs `body` for lower, lower + step, ... while that is less than upper.

    The results are what the last iteration yields; without one they are the initial values. The bounds are
    read once. The step must be above zero; another one is an error that a backend need not notice. The
    induction variable must not overflow.
    """

    lower = operand(scalar(Integer), doc="the first value of the induction variable")
    upper = operand(scalar(Integer), doc="the end, not reached")
    step = operand(scalar(Integer), doc="what is added each time, above zero")
    inits = operand(Anything, doc="initial values of what the loop carries", variadic=True)
    num_stages = attribute(
        int, doc="iterations in flight at once that the author asks for (0: as the target likes)", default=0
    )
    hints = attribute(
        dict, doc="further wishes of the author by name, none of which changes a result", default=None
    )
    body = region(
        doc="one iteration: takes the induction variable and the carried values, yields the next ones"
    )
    results = result(doc="the carried values after the loop", variadic=True)
    constraints = (
        constraint(
            "C1",
            "lower == upper and upper == step",
            "the bounds differ in type",
            help="cast the bounds and the step to one integer type",
            code="X0222",
        ),
        constraint(
            "C2",
            "takes(body) == (lower, *inits)",
            "the body takes other values than the loop carries",
            help="the body takes the induction variable, then one argument a carried value",
            code="X0221",
        ),
        constraint(
            "C3",
            "yields(body) == inits",
            "a carried value changes its type in the loop",
            help="cast it at the end of the body, or start from a value of the type it has there",
            code="X0221",
        ),
    )
    samples = (
        Sample(
            {"lower": "i32", "upper": "i32", "step": "i32", "inits": ("i32",)},
            values={"lower": 0, "upper": 10, "step": 3},
            regions={"body": _sum_body},
        ),
        Sample(
            {"lower": "i32", "upper": "i32", "step": "i32", "inits": ("i32",)},
            values={"lower": 0, "upper": -3, "step": 1},
            regions={"body": _sum_body},
            name="no iteration",
        ),
        *(
            Sample(
                {"lower": kind, "upper": kind, "step": kind, "inits": ("tile<5xf32>", "i1")},
                values={"lower": 1, "upper": 4, "step": 2},
                regions={"body": partial(_carry, kind)},
            )
            for kind in ("i64", "u32", "u8")
        ),
    )
    error_samples = (
        ErrorSample(
            "C1", {"lower": "i32", "upper": "i64", "step": "i32", "inits": ()}, regions={"body": _passes_on}
        ),
        ErrorSample(
            "C2",
            {"lower": "i32", "upper": "i32", "step": "i32", "inits": ("i32",)},
            regions={"body": lambda: _passes_on(_I32)},
        ),
        ErrorSample(
            "C3",
            {"lower": "i32", "upper": "i32", "step": "i32", "inits": ("i32",)},
            regions={"body": lambda: _passes_on(_I32, _I32, values=0)},
        ),
    )

    @type_rule
    def _(inits: tuple[Type, ...]) -> tuple[Type, ...]:
        return inits

    @reference
    def _compute(machine: Any, op: Op, body: Region, lower: Any, upper: Any, step: Any, inits: Any) -> Any:
        counter = dtype_of(op.operand("lower").type).numpy.type
        carried = inits
        for value in machine.iterations(lower, upper, step):
            carried = machine.run_region(body, (counter(value), *carried))
        return carried


def _below() -> Region:
    """The test of a loop over two numbers: goes on while the first is below the second."""
    block = Block([_I32, _I32])
    builder = Builder(block)
    builder.build(Condition, builder.value(Lt, *block.arguments), tuple(block.arguments))
    return Region([block])


def _double_first() -> Region:
    block = Block([_I32, _I32])
    builder = Builder(block)
    first, second = block.arguments
    builder.build(Yield, (builder.value(Add, first, first), second))
    return Region([block])


@op("control.while", since="0.1", profile="core", traits=(Trait.CONTROL,))
class While:
    """Runs `before`, then as long as its condition holds `after` and `before` again.

    The results are the values that `control.condition` forwards when it is false.
    """

    inits = operand(Anything, doc="initial values of what the loop carries", variadic=True)
    before = region(doc="the test: takes the carried values, ends in control.condition")
    after = region(doc="one iteration: takes the forwarded values, yields the next carried ones")
    results = result(doc="the values forwarded last", variadic=True)
    constraints = (
        constraint(
            "C1",
            "takes(before) == inits and ends_in(before, 'control.condition')",
            "the test takes other values than the loop carries, or does not end in control.condition",
            help="the region before takes one argument a carried value and ends in control.condition",
            code="X0221",
        ),
        constraint(
            "C2",
            "takes(after) == yields(before)",
            "the iteration takes other values than the test forwards",
            help="the region after takes one argument a forwarded value",
            code="X0221",
        ),
        constraint(
            "C3",
            "yields(after) == inits",
            "a carried value changes its type in the loop",
            help="cast it at the end of the body, or start from a value of the type it has there",
            code="X0221",
        ),
    )
    samples = (
        Sample(
            {"inits": ("i32", "i32")},
            values={"inits": (3, 100)},
            regions={"before": _below, "after": _double_first},
        ),
        Sample(
            {"inits": ("i32", "i32")},
            values={"inits": (5, 5)},
            regions={"before": _below, "after": _double_first},
            name="no iteration",
        ),
    )
    error_samples = (
        ErrorSample(
            "C1", {"inits": ("i32", "i32")}, regions={"before": _double_first, "after": _double_first}
        ),
        ErrorSample(
            "C2", {"inits": ("i32", "i32")}, regions={"before": _below, "after": lambda: _passes_on(_I32)}
        ),
        ErrorSample(
            "C3",
            {"inits": ("i32", "i32")},
            regions={"before": _below, "after": lambda: _passes_on(_I32, _I32, values=1)},
        ),
    )

    @type_rule
    def _(before: Region) -> tuple[Type, ...]:
        return yields(before)

    @reference
    def _compute(machine: Any, before: Region, after: Region, inits: Any) -> Any:
        carried = inits
        while True:
            proceed, *forwarded = machine.run_region(before, carried)
            if not machine.number(proceed):
                return tuple(forwarded)
            carried = machine.run_region(after, forwarded)


def _constant(value: int) -> Region:
    block = Block()
    builder = Builder(block)
    builder.build(Yield, builder.value(Constant, value=value, type=_I32))
    return Region([block])


@op("control.if", since="0.1", profile="core", traits=(Trait.CONTROL,))
class If:
    """Runs `then` if the condition holds, else `otherwise`; the results are what that region yields."""

    condition = operand(scalar(Bool), doc="which region to run")
    then = region(doc="what runs if the condition is true; takes nothing")
    otherwise = region(doc="what runs if it is false; takes nothing, may be empty but for its yield")
    results = result(doc="the values of the region that ran", variadic=True)
    constraints = (
        constraint(
            "C1",
            "takes(then) == () and takes(otherwise) == ()",
            "a branch takes arguments",
            help="use the values from around the branch directly",
            code="X0221",
        ),
        constraint(
            "C2",
            "yields(then) == yields(otherwise)",
            "the branches give values of different types",
            help="cast or broadcast in one branch so that both give the same types",
            code="X0221",
        ),
    )
    samples = tuple(
        Sample(
            {"condition": "i1"},
            values={"condition": condition},
            regions={"then": lambda: _constant(7), "otherwise": lambda: _constant(-2)},
        )
        for condition in (True, False)
    )
    error_samples = (
        ErrorSample(
            "C1",
            {"condition": "i1"},
            regions={"then": lambda: _passes_on(BOOL), "otherwise": lambda: _constant(1)},
        ),
        ErrorSample(
            "C2", {"condition": "i1"}, regions={"then": lambda: _constant(1), "otherwise": _passes_on}
        ),
    )

    @type_rule
    def _(then: Region) -> tuple[Type, ...]:
        return yields(then)

    @reference
    def _compute(machine: Any, condition: Any, then: Region, otherwise: Region) -> Any:
        return machine.run_region(then if machine.number(condition) else otherwise, ())
