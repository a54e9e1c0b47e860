"""Python text for a module: one line an op, from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from xdsl_core.ir import Module, Op, Value, pointee_of


class Names:
    """A Python name for each value."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def of(self, value: Value | None) -> str:
        return "None" if value is None else self._names.setdefault(id(value), f"v{len(self._names)}")

    def operands(self, op: Op) -> list[str]:
        return [self.of(value) for value in op.operands]


def _binary(symbol: str) -> Callable[[Op, Names], str]:
    return lambda op, names: f" {symbol} ".join(names.operands(op))


def _constant(op: Op, names: Names) -> str:
    type_ = op.result.type
    return f"machine.full({type_.shape}, {op.attribute('value')!r}, {type_.element.name!r})"


def _load(op: Op, names: Names) -> str:
    pointer = op.operand("pointer")
    mask, other = names.of(op.optional("mask")), names.of(op.optional("other"))
    return f"machine.load({names.of(pointer)}, {mask}, {other}, {pointee_of(pointer.type).name!r})"


def _store(op: Op, names: Names) -> str:
    pointer, value = names.of(op.operand("pointer")), names.of(op.operand("value"))
    dtype = pointee_of(op.operand("pointer").type).name
    return f"machine.store({pointer}, {value}, {names.of(op.optional('mask'))}, {dtype!r})"


def _offset(op: Op, names: Names) -> str:
    pointer, offset = names.operands(op)
    return f"{pointer} + {offset}.astype('int64') * {pointee_of(op.operands[0].type).bytes}"


# What acme can do, and how: op name -> the expression for its result.
EXPRESSIONS: Mapping[str, Callable[[Op, Names], str]] = MappingProxyType(
    {
        "grid.program_id": lambda op, names: f"machine.full((), pid[{op.attribute('axis')}], 'i32')",
        "tile.constant": _constant,
        "tile.arange": lambda op, names: f"machine.arange({op.attribute('start')}, {op.attribute('end')})",
        "tile.splat": lambda op, names: (
            f"machine.splat({names.operands(op)[0]}, {tuple(op.attribute('shape'))})"
        ),
        "tile.add": _binary("+"),
        "tile.sub": _binary("-"),
        "tile.mul": _binary("*"),
        "tile.lt": _binary("<"),
        "tile.offset": _offset,
        "memory.load": _load,
        "memory.store": _store,
        "control.return": lambda op, names: "None",
    }
)


def generate(module: Module, template: str) -> str:
    """The text of the module's only function."""
    (function,) = module.functions.values()
    names = Names()
    lines = [f"    {names.of(value)} = {value.name}" for value in function.parameters]
    for op in function.walk():
        target = f"{names.of(op.result)} = " if op.results else ""
        lines.append(f"    {target}{EXPRESSIONS[op.name](op, names)}")
    parameters = "".join(f", {value.name}" for value in function.parameters)
    return template.replace("{{ parameters }}", parameters).replace("{{ body }}", "\n".join(lines))
