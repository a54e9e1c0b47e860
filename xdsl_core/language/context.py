"""What an implementation of the language sees of the compilation it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.ir import Builder, Op, Region, Value
from xdsl_core.language.values import TRITON_MAX_TENSOR_NUMEL, Composite, tensor

CallFunction = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


@dataclass(slots=True)
class Notes:
    """What a kernel and its helpers have in common.

    `hints` are those given, as text; `flags` the events between tasks that have been set; `operations` the
    backend's own ops by name.
    """

    hints: list[str] = field(default_factory=list)
    flags: set[tuple[str, int]] = field(default_factory=set)
    operations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Context:
    """Where ops go (`builder`), and how to inline a jit function (`call`: function, args, kwargs -> result).

    `debug` says whether assertions are compiled in; `write` takes the text of `static_print`.
    """

    builder: Builder
    call: CallFunction
    debug: bool = False
    write: Callable[[str], Any] = field(default=print)
    notes: Notes = field(default_factory=Notes)

    def emit(self, definition: Any, *operands: Any, **attributes: Any) -> tensor:
        """The only result of a new op. Operands are tensors, None (absent) or sequences of tensors.

        X0166 where it is a tile of more elements than there may be.
        """
        made = tensor(self.builder.build(definition, *map(handles, operands), **attributes).result)
        if made.numel > TRITON_MAX_TENSOR_NUMEL:
            raise fail(
                "X0166",
                f"a tile of {made.numel} elements",
                label=f"its shape is {list(made.shape)}",
                help=f"the most is {TRITON_MAX_TENSOR_NUMEL}: let more programs, or a loop, share the work",
            )
        return made

    def build(self, definition: Any, *operands: Any, regions: Sequence[Region] = (), **attributes: Any) -> Op:
        """A new op; operands as for `emit`."""
        return self.builder.build(definition, *map(handles, operands), regions=regions, **attributes)


def handles(operand: Any) -> Value | list[Value] | None:
    """The IR's values behind a tensor, a sequence of tensors, or None."""
    if operand is None:
        return None
    if isinstance(operand, tensor):
        return operand.handle
    return [one.handle for one in operand]


def fail(code: str, message: str, *, label: str = "", help: str = "", note: str = "") -> CompilationError:
    """The error to raise; the frontend adds the place."""
    return CompilationError(error(code, message, label=label, help=help, note=note))


def describe(value: Any) -> str:
    """A value in the words of an error label: `x is tile<4xf32>`, `BLOCK is 64`."""
    if isinstance(value, tensor):
        name = value.handle.name
        return f"{name} is {value.handle.type}" if name else str(value.handle.type)
    return str(value) if isinstance(value, Composite) else f"compile-time value {value!r}"
