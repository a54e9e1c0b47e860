"""Ops on shapes that go wrong first: one element, primes, a block plus or minus one, ranks up to four.

The language does not ask for powers of two. A backend may claim less; then it has to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from xdsl_conformance.case import Case
from xdsl_conformance.op_cases import ask_sample
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome
from xdsl_core.ir import print_module
from xdsl_core.ir.traits import Trait
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.opdef.sampling import sample_types
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of

SHAPES: tuple[tuple[int, ...], ...] = (
    *((1,), (2,), (7,), (31,), (33,), (64,), (127,), (257,)),
    *((1, 1), (3, 5), (1, 13), (17, 1), (16, 33), (2, 3, 5), (2, 1, 3, 4)),
)
# m, n, k of products
PRODUCTS = (
    *((1, 1, 1), (1, 16, 1), (16, 16, 16), (3, 5, 7), (17, 15, 33)),
    *((32, 64, 16), (1, 33, 65), (31, 1, 8), (64, 8, 128)),
)
# The code of element-wise ops is the same for all shapes of a rank: a few will do.
FEW: tuple[tuple[int, ...], ...] = ((1,), (7,), (33,), (16, 33), (2, 3, 5))
_DTYPES = {"f32": SHAPES, "i32": FEW}


def shape_cases() -> Iterator[Case]:
    """Samples of every kind of op that takes any shape, each on several shapes."""
    for definition in CORE:
        for name, _sample in _samples(definition):
            yield Case(
                f"shape/{definition.name}/{name}",
                "tile",
                f"{definition.name} on {name}",
                partial(_ask, definition.name, name),
                {"op": definition.name},
                partial(_text, definition.name, name),
            )


def _ask(op: str, name: str, subject: Subject) -> Outcome:
    return ask_sample(CORE[op], dict(_samples(CORE[op]))[name], 1, subject)


def _text(op: str, name: str) -> str:
    return print_module(case_of(CORE[op], dict(_samples(CORE[op]))[name], seed=1).module)


def _samples(definition: OpDef) -> Iterator[tuple[str, Sample]]:
    for admits, make in _KINDS:
        if admits(definition):
            yield from make(definition)
            return


def _template(definition: OpDef, dtype: str) -> Sample | None:
    """A sample whose operands are all tiles of one dtype, with data that may be anything."""
    for sample in definition.samples:
        kinds = [kind for slot in sample_types(definition, sample).values() for kind in slot]
        if kinds and not sample.values and all(kind.shape and f"x{dtype}>" in str(kind) for kind in kinds):
            return sample
    return None


def _elementwise(definition: OpDef) -> Iterator[tuple[str, Sample]]:
    for dtype in _DTYPES:
        template = _template(definition, dtype)
        for shape in FEW if template is not None else ():
            assert template is not None
            text = _tile(shape, dtype)
            types = dict.fromkeys(template.types, text)
            yield f"{dtype}.{_name(shape)}", Sample(types, template.attributes)


def _along_an_axis(definition: OpDef) -> Iterator[tuple[str, Sample]]:
    for dtype, shapes in _DTYPES.items():
        template = _template(definition, dtype)
        for shape in shapes if template is not None else ():
            assert template is not None
            for axis in range(len(shape)):
                attributes = {**template.attributes, "axis": axis}
                types = {name: _like(given, shape, dtype) for name, given in template.types.items()}
                sample = Sample(types, attributes, regions=template.regions)
                yield f"{dtype}.{_name(shape)}.{axis}", sample


def _product(_: OpDef) -> Iterator[tuple[str, Sample]]:
    for dtype, total in (("f32", "f32"), ("f16", "f32"), ("i8", "i32")):
        for m, n, k in PRODUCTS:
            types = {
                "lhs": _tile((m, k), dtype),
                "rhs": _tile((k, n), dtype),
                "accumulator": _tile((m, n), total),
            }
            yield f"{dtype}.{m}x{n}x{k}", Sample(types)


def _transposition(definition: OpDef) -> Iterator[tuple[str, Sample]]:
    for shape in SHAPES:
        if len(shape) > 1:
            order = tuple(reversed(range(len(shape))))
            yield f"f32.{_name(shape)}", Sample({"source": _tile(shape, "f32")}, {"order": order})


def _tile(shape: tuple[int, ...], dtype: str) -> str:
    return f"tile<{'x'.join(map(str, shape))}x{dtype}>"


def _like(given: str | tuple[str, ...], shape: tuple[int, ...], dtype: str) -> str | tuple[str, ...]:
    text = _tile(shape, dtype)
    return text if isinstance(given, str) else (text,) * len(given)


def _name(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _has(*names: str) -> Callable[[OpDef], bool]:
    return lambda definition: all(name in (*definition.operands, *definition.attributes) for name in names)


def _is_elementwise(definition: OpDef) -> bool:
    return Trait.ELEMENTWISE in definition.traits and not definition.attributes


def _goes_along_an_axis(definition: OpDef) -> bool:
    return _has("axis")(definition) and Trait.MOVEMENT not in definition.traits


# Which ops a maker is for, by what they have; the first that fits is used.
_KINDS: tuple[tuple[Callable[[OpDef], bool], Callable[[OpDef], Iterator[tuple[str, Sample]]]], ...] = (
    (_is_elementwise, _elementwise),
    (_has("lhs", "rhs", "accumulator"), _product),
    (_has("source", "order"), _transposition),
    (_goes_along_an_axis, _along_an_axis),
)
