"""What a backend claims to do: ops, element types and limits, and the reason where it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

from xdsl_core.diagnostics import BackendError, error

Shape = Sequence[int]


class NamedOp(Protocol):
    """What capabilities read of an op definition."""

    @property
    def name(self) -> str: ...


# A limit's name, and the test that says in words how a shape breaks it (None if it does not).
LIMITS: Mapping[str, Callable[[Shape, int], str | None]] = MappingProxyType(
    {
        "max_rank": lambda s, n: f"rank {len(s)} is above {n}" if len(s) > n else None,
        "min_extent": lambda s, n: _extents(s, lambda e: e < n, f"below {n}"),
        "max_extent": lambda s, n: _extents(s, lambda e: e > n, f"above {n}"),
        "multiple_of": lambda s, n: _extents(s, lambda e: e % n != 0, f"no multiple of {n}"),
        "power_of_two": lambda s, n: _extents(s, lambda e: bool(n) and e & (e - 1) != 0, "no power of two"),
        "max_elements": lambda s, n: f"{math.prod(s)} elements are above {n}" if math.prod(s) > n else None,
    }
)


def _extents(shape: Shape, breaks: Callable[[int], bool], words: str) -> str | None:
    bad = [extent for extent in shape if breaks(extent)]
    return f"extent {bad[0]} is {words}" if bad else None


@dataclass(frozen=True, slots=True)
class Claim:
    """`op` works for any mix of `dtypes` (names), within `limits` (keys of LIMITS, for each tile)."""

    op: str
    dtypes: frozenset[str]
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        unknown = [name for name in self.limits if name not in LIMITS]
        if unknown:
            problem = error(
                "X0613",
                f"claim for {self.op} has an unknown limit {unknown[0]!r}",
                help=f"the known limits are {', '.join(LIMITS)}",
            )
            raise BackendError(problem)


@dataclass(frozen=True, slots=True)
class Denial:
    """`op` does not work for `dtypes` (empty: for none), because of `reason`; wins over claims."""

    op: str
    reason: str
    dtypes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a backend does not do an op on these element types.

    `kind` says what the refusal is about: "op" (not claimed or denied), "dtype" or "limit". `fix` may be
    empty.
    """

    kind: str
    op: str
    dtypes: tuple[str, ...]
    reason: str
    fix: str = ""


@dataclass(frozen=True)
class Capabilities:
    """The claims of a backend for one target.

    What is not claimed is refused before anything runs. A claim covers an op when it holds every element type
    among the operands and results; i1 needs no mention where another type is present, since every mask and
    condition has it.
    """

    claims: tuple[Claim, ...] = ()
    denials: tuple[Denial, ...] = ()
    # the compile hints that it follows
    hints: frozenset[str] = frozenset()
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def _by_op(self) -> Mapping[str, tuple[Claim, ...]]:
        found: dict[str, tuple[Claim, ...]] = {}
        for claim in self.claims:
            found[claim.op] = (*found.get(claim.op, ()), claim)
        return found

    @property
    def ops(self) -> frozenset[str]:
        """The names of the claimed ops."""
        return frozenset(self._by_op)

    def dtypes(self, op: str) -> frozenset[str]:
        """The element types claimed for `op` in any claim, without the denied ones."""
        claimed = frozenset().union(*(claim.dtypes for claim in self._by_op.get(op, ())))
        denied = [denial for denial in self.denials if denial.op == op]
        if any(not denial.dtypes for denial in denied):
            return frozenset()
        return claimed.difference(*(denial.dtypes for denial in denied))

    def supports(self, op: str, dtypes: Iterable[str] = (), shapes: Iterable[Shape] = ()) -> Refusal | None:
        """None if `op` is claimed for these element types and shapes, else the refusal with its reason."""
        names = _significant(dtypes)
        for denial in self.denials:
            if denial.op == op and (not denial.dtypes or denial.dtypes & set(names)):
                return Refusal("dtype" if denial.dtypes else "op", op, names, denial.reason)
        claims = self._by_op.get(op, ())
        if not claims:
            return Refusal("op", op, names, "the op is not claimed")
        fitting = [claim for claim in claims if claim.dtypes.issuperset(names)]
        if not fitting:
            return _refuse_dtypes(op, names, self.dtypes(op))
        tried = [(claim, _broken_limit(claim, tuple(shapes))) for claim in fitting]
        if any(broken is None for _, broken in tried):
            return None
        return Refusal("limit", op, names, f"limit {tried[0][1]}", "change the tile's shape")

    def extended(self, *more: Claim | Denial) -> Capabilities:
        """These capabilities with more claims (alternatives to those already there) and denials."""
        claims = tuple(item for item in more if isinstance(item, Claim))
        denials = tuple(item for item in more if isinstance(item, Denial))
        return replace(self, claims=self.claims + claims, denials=self.denials + denials)

    def replacing(self, *claims: Claim) -> Capabilities:
        """These capabilities with all claims for the named ops replaced by the given ones."""
        named = {claim.op for claim in claims}
        return replace(self, claims=(*(claim for claim in self.claims if claim.op not in named), *claims))


def claim_all(
    opset: Iterable[NamedOp],
    dtypes: Iterable[str],
    *,
    except_: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
) -> Capabilities:
    """Claims every op of `opset` for `dtypes`; `except_` maps names or patterns to the reason why not."""
    reasons = except_ or {}
    claims, denials, types = [], [], frozenset(dtypes)
    for name in sorted(definition.name for definition in opset):
        reason = next((why for pattern, why in reasons.items() if fnmatchcase(name, pattern)), None)
        if reason is None:
            claims.append(Claim(name, types, limits or {}))
        else:
            denials.append(Denial(name, reason))
    return Capabilities(tuple(claims), tuple(denials))


def _significant(dtypes: Iterable[str]) -> tuple[str, ...]:
    """The distinct names in order, without i1 where it accompanies others."""
    names = tuple(dict.fromkeys(dtypes))
    return tuple(name for name in names if name != "i1") or names


def _refuse_dtypes(op: str, names: tuple[str, ...], claimed: frozenset[str]) -> Refusal:
    missing = [name for name in names if name not in claimed]
    if not missing:
        return Refusal(
            "dtype",
            op,
            names,
            f"the mix of {', '.join(names)} is not claimed",
            "cast the operands to one dtype",
        )
    known = ", ".join(sorted(claimed)) or "no dtype"
    return Refusal("dtype", op, names, f"{', '.join(missing)} is not claimed", f"cast to one of: {known}")


def _broken_limit(claim: Claim, shapes: tuple[Shape, ...]) -> str | None:
    for name, bound in claim.limits.items():
        for shape in shapes:
            words = LIMITS[name](shape, bound)
            if words is not None:
                return f"{name}={bound}: {words} in {'x'.join(map(str, shape))}"
    return None
