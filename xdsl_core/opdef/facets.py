"""The parts of an op's class body: operands, attributes, results, constraints, samples, error budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any

from xdsl_core.opdef.patterns import TypePattern

if TYPE_CHECKING:
    from xdsl_core.ir.core import Region


@dataclass(frozen=True, slots=True)
class OperandFacet:
    """An operand: which types it takes, of which ranks (None: any), and what it means."""

    pattern: TypePattern
    doc: str
    rank: tuple[int, ...] | None
    optional: bool
    variadic: bool


@dataclass(frozen=True, slots=True)
class AttributeFacet:
    """A compile-time value: Python types, values it may take (None: any), default and meaning."""

    kinds: tuple[type, ...]
    doc: str
    choices: tuple[Any, ...] | None
    required: bool
    default: Any

    def admits(self, value: Any) -> bool:
        """Whether `value` is of one of the kinds; a bool is no int here."""
        return isinstance(value, self.kinds) and (not isinstance(value, bool) or bool in self.kinds)


@dataclass(frozen=True, slots=True)
class ResultFacet:
    """A result and what it means."""

    doc: str
    variadic: bool


@dataclass(frozen=True, slots=True)
class RegionFacet:
    """Code inside the op and what it means."""

    doc: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """A labelled rule: a Python expression over operand types and attributes, by their names."""

    label: str
    text: str
    message: str
    help: str
    code: str
    expression: CodeType = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """One use of an op: operand types as IR text by name (a tuple for variadic), attributes, data, regions.

    `values` maps an operand to an array (or number), or to a callable of a numpy Generator and the operand's
    type that gives one; other operands get generic data of their type. The data of a pointer operand are
    element offsets into a buffer, whose contents "NAME.memory" gives where they matter. `regions` maps a
    region to a callable that builds a fresh one. `comparable` is False where results may differ from run to
    run.
    """

    types: Mapping[str, str | tuple[str, ...]]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    regions: Mapping[str, Callable[[], Region]] = field(default_factory=dict)
    comparable: bool = True


@dataclass(frozen=True, slots=True)
class ErrorSample:
    """One misuse of an op and the label of the constraint that must refuse it."""

    constraint: str
    types: Mapping[str, str | tuple[str, ...]]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    regions: Mapping[str, Callable[[], Region]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exact:
    """Every bit must be right: integers, data movement, comparisons, min and max."""

    def __str__(self) -> str:
        return "exact"


@dataclass(frozen=True, slots=True)
class Ulp:
    """At most this many units in the last place from the exact result.

    `by_dtype` overrides `default`. 0.5 asks for the correctly rounded result. Integers are exact under every
    budget.
    """

    default: float
    by_dtype: Mapping[str, float] = field(default_factory=dict)

    def of(self, dtype_name: str) -> float:
        return self.by_dtype.get(dtype_name, self.default)

    def __str__(self) -> str:
        special = "".join(f", {name}: {ulps}" for name, ulps in self.by_dtype.items())
        return f"{self.default} ulp{special}"


@dataclass(frozen=True, slots=True)
class Contraction:
    """A sum or product of `over` terms: 4*sqrt(over)*u*magnitude plus one output rounding.

    `over` is an expression over operand types and attributes, like a constraint's; u is the unit roundoff of
    the result's dtype. The magnitude is the reference applied to the absolute values of the operands (for a
    matrix product |A|@|B| + |C|). `term_error` is an expression for the relative error each term may carry
    before it is added, 0 unless operands may be rounded on the way in. Integers are exact.
    """

    over: str
    term_error: str = "0"

    def __str__(self) -> str:
        extra = "" if self.term_error == "0" else f" + ({self.term_error})*|terms|"
        return f"4*sqrt({self.over})*u*|terms|{extra}"


@dataclass(frozen=True, slots=True)
class NoBudget:
    """The op produces no numbers of its own (control flow, effects)."""

    def __str__(self) -> str:
        return "none"


Budget = Exact | Ulp | Contraction | NoBudget


def operand(
    pattern: TypePattern,
    *,
    doc: str,
    rank: tuple[int, ...] | None = None,
    optional: bool = False,
    variadic: bool = False,
) -> Any:
    """Declare an operand of the op."""
    return OperandFacet(pattern, doc, rank, optional, variadic)


_REQUIRED = object()


def attribute(
    *kinds: type, doc: str, choices: tuple[Any, ...] | None = None, default: Any = _REQUIRED
) -> Any:
    """Declare an attribute of the op; without `default` it must be given."""
    required = default is _REQUIRED
    return AttributeFacet(kinds, doc, choices, required, None if required else default)


def result(*, doc: str, variadic: bool = False) -> Any:
    """Declare a result of the op."""
    return ResultFacet(doc, variadic)


def region(*, doc: str) -> Any:
    """Declare a region of the op."""
    return RegionFacet(doc)


def constraint(label: str, text: str, message: str, *, help: str, code: str = "X0202") -> Constraint:
    """Declare a rule that every use of the op must keep; `text` is both what is checked and what is shown."""
    return Constraint(label, text, message, help, code, compile(text, f"<constraint {label}>", "eval"))


def type_rule(function: Callable[..., Any]) -> Any:
    """Mark the function that gives the result types; parameters are operands, attributes, regions by name."""
    function.__opdef__ = "type_rule"  # type: ignore[attr-defined]
    return staticmethod(function)


def undefined_lanes(function: Callable[..., Any]) -> Any:
    """Mark the function that says which lanes of the results are undefined where lanes of operands are.

    Parameters are taken by name as for `reference`; `undefined` maps each operand's name to a boolean array
    of its shape. The outcome is one boolean array, or one a result. Needed where the rule that follows from
    the traits is too coarse: lane by lane for elementwise ops, along the axis for reductions, with the
    elements for movements, and otherwise everything as soon as anything is.
    """
    function.__opdef__ = "undefined_lanes"  # type: ignore[attr-defined]
    return staticmethod(function)


def reference(function: Callable[..., Any]) -> Any:
    """Mark the numpy meaning of the op. Parameters are taken by name.

    Operands arrive as numpy arrays (0-d for scalars; floats in float64; pointers as int64 byte addresses;
    None where absent; tuples where variadic), attributes and regions by name, `op` and `machine` (the
    interpreter) if asked for. The result, or the tuple of results, is rounded to the result type by the
    caller. The operands of an op that is not PURE are opaque, for its reference to pass to methods of
    the machine.
    """
    function.__opdef__ = "reference"  # type: ignore[attr-defined]
    return staticmethod(function)
