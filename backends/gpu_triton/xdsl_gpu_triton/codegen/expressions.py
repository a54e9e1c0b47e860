"""The text of one op from the texts of its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, Trait, Value, dtype_of
from xdsl_core.passes.definitions import name_of
from xdsl_gpu_triton.codegen.literals import literal, typed
from xdsl_gpu_triton.codegen.spellings import Spelling, element_key, find_spelling, triton_dtype
from xdsl_gpu_triton.codegen.text import (
    ATOM,
    COMPARE,
    OR,
    SUM,
    Text,
    join_shapes,
    reads_of,
    tuple_text,
)
from xdsl_gpu_triton.errors import no_spelling

Find = Callable[[Value], Text]


def exact(text: Text, value: Value) -> Text:
    """The text with the shape and dtype of the value itself, where Triton would not extend it by itself."""
    shape = value.type.shape
    if text.literal:
        constant = value.defining_op
        while constant is not None and constant.definition is not ops.Constant:
            constant = constant.operands[0].defining_op
        assert constant is not None
        return typed(constant.attributes["value"], value.type)
    if text.shape == shape:
        return text
    return Text(f"tl.broadcast_to({text.text}, {tuple_text(shape)})", shape=shape, reads=text.reads)


def expression(op: Op, find: Find, *, interpreted: bool) -> Text:
    """The text of an op's only result; CompilationError X0731 where Triton has no such operation."""
    special = _SPECIAL.get(op.name)
    if special is not None:
        return special(op, find)
    row = find_spelling(op.name, element_key(op), interpreted=interpreted)
    if row is None:
        raise no_spelling(op)
    return _spelled(op, row, find)


def _spelled(op: Op, row: Spelling, find: Find) -> Text:
    whole = not op.has(Trait.ELEMENTWISE)
    texts = [exact(find(value), value) if whole else find(value) for value in op.operands]
    texts = _with_dtype(op, texts)
    slots = zip(op.definition.operand_schema, op.segments, strict=True)
    names = [slot.name for slot, count in slots if count]
    levels = [*row.operands, *[row.operands[-1]] * len(texts)][: len(texts)]
    words = {name: text.within(level) for name, text, level in zip(names, texts, levels, strict=True)}
    for schema in op.definition.attribute_schema:
        words[schema.name] = _attribute_text(op.attribute(schema.name))
    if "{lanes}" in row.text:
        words["lanes"] = lanes_text(op.operands[0].type.shape, op.attribute("axis"))
    pattern = row.text
    for name, choices in row.flags.items():
        pattern = pattern.replace("{flags}", choices[op.attribute(name)])
    shape = join_shapes([text.shape for text in texts]) if not whole else op.results[0].type.shape
    return Text(pattern.format(**words), row.level, shape, reads=reads_of(texts))


def _with_dtype(op: Op, texts: list[Text]) -> list[Text]:
    """The texts, the numbers among them made scalars of Triton where no operand would tell their dtype."""
    start = 1 if op.definition is ops.Select else 0
    if not texts or not all(text.literal for text in texts[start:]):
        return texts
    boxed = [_boxed(value) for value in op.operands[start:]]
    return [*texts[:start], *boxed]


def _attribute_text(value: Any) -> str:
    return triton_dtype(value) if isinstance(value, DType) else str(value)


def _number_of(value: Value) -> Any:
    op = value.defining_op
    while op is not None and op.definition is not ops.Constant:
        op = op.operands[0].defining_op
    assert op is not None
    return op.attributes["value"]


def _boxed(value: Value) -> Text:
    """A number as a scalar of Triton, where a lone literal would stay Python's."""
    dtype = dtype_of(value.type)
    return Text(f"tl.full((), {literal(_number_of(value), dtype)}, dtype={triton_dtype(dtype)})")


def lanes_text(shape: tuple[int, ...], axis: int) -> str:
    """The number of each lane along an axis, as a tile of this shape."""
    text = f"tl.arange(0, {shape[axis]})"
    if len(shape) == 1:
        return text
    places = ", ".join(":" if each == axis else "None" for each in range(len(shape)))
    return f"tl.broadcast_to({text}[{places}], {tuple_text(shape)})"


def _constant(op: Op, find: Find) -> Text:
    return literal(op.attributes["value"], dtype_of(op.result.type))


def _arange(op: Op, find: Find) -> Text:
    start, end = op.attributes["start"], op.attributes["end"]
    if start == 0:
        return Text(f"tl.arange(0, {end})", shape=(end,))
    sign = "+" if start > 0 else "-"
    return Text(f"tl.arange(0, {end - start}) {sign} {abs(start)}", SUM, (end - start,))


def _source(op: Op, find: Find) -> Text:
    """Repeating a value is left to Triton, which does it wherever shapes meet."""
    return find(op.operands[0])


def _expand_dims(op: Op, find: Find) -> Text:
    """`x[:, None]`; several new axes in one subscript; none for what is the same in every lane."""
    axes, value = [], op.result
    while value.defining_op is not None and value.defining_op.definition is ops.ExpandDims:
        axes.append(value.defining_op.attributes["axis"])
        value = value.defining_op.operands[0]
    text = find(value)
    if text.literal or not text.shape:
        return text
    places, shape = [":"] * len(text.shape), list(text.shape)
    for axis in reversed(axes):
        places.insert(axis, "None")
        shape.insert(axis, 1)
    return Text(f"{text.within(ATOM)}[{', '.join(places)}]", shape=tuple(shape), reads=text.reads)


def _reshape(op: Op, find: Find) -> Text:
    text = exact(find(op.operands[0]), op.operands[0])
    shape = op.attributes["shape"]
    return Text(f"tl.reshape({text}, {tuple_text(shape)})", shape=shape, reads=text.reads)


def _permute(op: Op, find: Find) -> Text:
    text = exact(find(op.operands[0]), op.operands[0])
    order, shape = op.attributes["order"], op.result.type.shape
    plain = order == (1, 0)
    spelled = f"tl.trans({text})" if plain else f"tl.permute({text}, {tuple_text(order)})"
    return Text(spelled, shape=shape, reads=text.reads)


def _cast(op: Op, find: Find) -> Text:
    value = op.operands[0]
    source, target = dtype_of(value.type), op.attributes["to"]
    text = find(value)
    if text.literal:
        text = _boxed(value)
    if target is dtypes.i1:
        zero = "0.0" if source.is_float else "0"
        return Text(f"{text.within(COMPARE + 1)} != {zero}", COMPARE, text.shape, reads=text.reads)
    rounding = ""
    if (
        op.attribute("rounding") == "rtz"
        and source.is_float
        and target.is_float
        and target.bits < source.bits
    ):
        rounding = ', fp_downcast_rounding="rtz"'
    spelled = f"{text.within(ATOM)}.to({triton_dtype(target)}{rounding})"
    return Text(spelled, shape=text.shape, reads=text.reads)


def _load(op: Op, find: Find) -> Text:
    pointer, mask, other = op.operand("pointer"), op.optional("mask"), op.optional("other")
    place = exact(find(pointer), pointer)
    parts = [place]
    words = [place.text]
    for name, value in (("mask", mask), ("other", other)):
        if value is not None:
            parts.append(find(value))
            words.append(f"{name}={parts[-1]}")
    words += hints(op)
    return Text(f"tl.load({', '.join(words)})", shape=place.shape, reads=reads_of(parts))


def hints(op: Op) -> list[str]:
    """The hints of an access as keyword arguments; scopes and orders of atomics too."""
    found = []
    for name, keyword in _HINTS.items():
        value = next((op.attribute(s.name) for s in op.definition.attribute_schema if s.name == name), None)
        default = next((s.default for s in op.definition.attribute_schema if s.name == name), None)
        if value is not None and value != default:
            found.append(f"{keyword}={value!r}".replace("'", '"'))
    return found


_HINTS = MappingProxyType(
    {
        "cache": "cache_modifier",
        "eviction": "eviction_policy",
        "volatile": "volatile",
        "sem": "sem",
        "scope": "scope",
    }
)


def _dot(op: Op, find: Find) -> Text:
    lhs, rhs, accumulator = (exact(find(value), value) for value in op.operands)
    parts, words = [lhs, rhs, accumulator], [lhs.text, rhs.text]
    element = dtype_of(op.operands[0].type)
    given = not _is_zero(op.operands[2])
    if given:
        words.append(accumulator.text)
    if dtype_of(op.result.type) is not dtypes.f32:
        words.append(f"out_dtype={triton_dtype(dtype_of(op.result.type))}")
    if element is dtypes.f32:
        words.append(f'input_precision="{op.attribute("precision")}"')
    if element.is_float and element.bits == 8:
        # without it Triton may add products of fp8 in less than f32 on some chips
        words.append("max_num_imprecise_acc=0")
    return Text(f"tl.dot({', '.join(words)})", shape=op.result.type.shape, reads=reads_of(parts))


def _is_zero(value: Value) -> bool:
    op = value.defining_op
    return op is not None and op.definition is ops.Constant and op.attributes["value"] == 0


def _atomic(op: Op, find: Find) -> Text:
    pointer, value, mask = op.operand("pointer"), op.operand("value"), op.optional("mask")
    parts = [exact(find(pointer), pointer), exact(find(value), value)]
    words = [part.text for part in parts]
    if mask is not None:
        parts.append(find(mask))
        words.append(f"mask={parts[-1]}")
    words += hints(op)
    spelled = f"tl.atomic_{op.attributes['kind']}({', '.join(words)})"
    return Text(spelled, shape=parts[0].shape, reads=reads_of(parts))


def _compare_and_swap(op: Op, find: Find) -> Text:
    parts = [exact(find(value), value) for value in op.operands]
    words = [part.text for part in parts] + hints(op)
    return Text(f"tl.atomic_cas({', '.join(words)})", shape=parts[0].shape, reads=reads_of(parts))


def store_text(op: Op, find: Find) -> str:
    """The statement of a store."""
    pointer, value, mask = op.operand("pointer"), op.operand("value"), op.optional("mask")
    words = [exact(find(pointer), pointer).text, find(value).text]
    if mask is not None:
        words.append(f"mask={find(mask)}")
    return f"tl.store({', '.join(words + hints(op))})"


def print_texts(op: Op, find: Find) -> list[str]:
    """The statements of a print, one for each value."""
    prefix = _quoted(op.attributes["prefix"])
    flag = ", hex=True" if op.attribute("hex") else ""
    values = [exact(find(value), value) for value in op.operands]
    boxed = [_boxed(value) if text.literal else text for value, text in zip(op.operands, values, strict=True)]
    return [f"tl.device_print({prefix}, {text}{flag})" for text in boxed] or [f"tl.device_print({prefix})"]


def assert_text(op: Op, find: Find) -> str:
    """The statement of an assertion."""
    condition, mask = op.operand("condition"), op.optional("mask")
    text = find(condition).text
    if mask is not None:
        text = f"{find(condition).within(OR)} | ~{find(mask).within(ATOM)}"
    return f"tl.device_assert({text}, {_quoted(op.attributes['message'])})"


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=True)


def combined_text(op: Op, find: Find, helper: str) -> Text:
    """A reduction or scan of tiles with a function of the file."""
    sources = [exact(find(value), value) for value in op.operands]
    function = "tl.reduce" if op.definition is ops.Reduce else "tl.associative_scan"
    axis, flag = op.attributes["axis"], ""
    if op.definition is ops.Scan and op.attribute("reverse"):
        flag = ", reverse=True"
    given = sources[0].text if len(sources) == 1 else f"({', '.join(map(str, sources))})"
    shape = op.results[0].type.shape
    return Text(f"{function}({given}, {axis}, {helper}{flag})", shape=shape, reads=reads_of(sources))


_ROWS: Sequence[tuple[Any, Callable[[Op, Find], Text]]] = (
    (ops.Constant, _constant),
    (ops.Arange, _arange),
    (ops.Splat, _source),
    (ops.Broadcast, _source),
    (ops.ExpandDims, _expand_dims),
    (ops.Reshape, _reshape),
    (ops.Permute, _permute),
    (ops.Cast, _cast),
    (ops.Load, _load),
    (ops.Dot, _dot),
    (ops.AtomicRmw, _atomic),
    (ops.AtomicCas, _compare_and_swap),
)
_SPECIAL: Mapping[str, Callable[[Op, Find], Text]] = MappingProxyType(
    {name_of(definition): function for definition, function in _ROWS}
)
