"""A kernel and what is known of its arguments to a module of tile IR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from xdsl_core import dtypes, ops
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.frontend.python.compile_time import normal
from xdsl_core.frontend.python.dispatch import execute
from xdsl_core.frontend.python.frame import Frame
from xdsl_core.frontend.python.functions import new_frame, result_of
from xdsl_core.frontend.python.problems import AlreadyReported, Broken, Problems, TooMany
from xdsl_core.frontend.python.source import MISSING, JitSource
from xdsl_core.frontend.specs import (
    ArgumentSpec,
    CompositeSpec,
    Constant,
    DescriptorKind,
    PointerSpec,
    ScalarSpec,
    leaves,
)
from xdsl_core.ir import Builder, Function, Module, PointerType, ScalarType, Type
from xdsl_core.language.context import Notes
from xdsl_core.language.semantics.conversion import constant
from xdsl_core.language.values import tensor
from xdsl_core.opdef import OpDef


def build_module(
    source: JitSource,
    arguments: Mapping[str, ArgumentSpec],
    *,
    debug: bool = False,
    operations: Mapping[str, OpDef] = MappingProxyType({}),
) -> Module:
    """The tile IR of a kernel for arguments of these kinds.

    Its one function has a parameter for each argument that is no Constant, in the kernel's order. With
    `debug`, assertions of the running kernel are compiled in. `operations` are the ops of a backend's own
    that `tl.custom` finds by name. Hints that the kernel gives are the function's attribute "hints". Raises
    CompilationError with up to ten mistakes.
    """
    specs = _specs(source, arguments)
    passed = leaves(specs)
    function = Function(
        source.name,
        [(leaf.name, _type(leaf.spec)) for leaf in passed],
        parameter_attributes=[{"divisible_by": 16} if leaf.spec.divisible_by_16 else {} for leaf in passed],
        location=source.locate(source.tree),
    )
    builder = Builder(function.block, location=function.location)
    problems = Problems()
    notes = Notes(operations=operations)
    frame = new_frame(source, builder, problems, debug=debug, notes=notes)
    values = iter([tensor(parameter) for parameter in function.parameters])
    frame.variables = {name: _value(frame, spec, values) for name, spec in specs.items()}
    _run(frame)
    problem = problems.error()
    if problem is not None:
        raise problem
    builder.build(ops.Return)
    if notes.hints:
        function.attributes["hints"] = tuple(notes.hints)
    module = Module()
    module.add(function)
    return module


def _run(frame: Frame) -> None:
    try:
        result = result_of(frame, execute(frame, frame.source.tree.body))
        if result is not None and not isinstance(result, Broken):
            raise frame.fail(
                frame.source.tree,
                "X0140",
                f"the kernel {frame.source.name} returns a value",
                help="a kernel writes its results with tl.store; only helpers return values",
            )
    except CompilationError as problem:
        frame.problems.found += problem.diagnostics
    except RecursionError:
        message = f"{frame.source.name} is nested too deeply"
        frame.problems.found.append(
            error("X0141", message, location=frame.locate(frame.source.tree), help="split it into helpers")
        )
    except (TooMany, AlreadyReported):
        pass


def _specs(source: JitSource, arguments: Mapping[str, ArgumentSpec]) -> dict[str, ArgumentSpec]:
    """What is known of every parameter, in order; parameters left out have their default. X0147 otherwise."""
    known = {parameter.name for parameter in source.parameters}
    unknown = [name for name in arguments if name not in known]
    found: dict[str, ArgumentSpec] = {}
    missing = []
    for parameter in source.parameters:
        if parameter.name in arguments:
            found[parameter.name] = arguments[parameter.name]
        elif parameter.default is not MISSING:
            found[parameter.name] = Constant(parameter.default)
        else:
            missing.append(parameter.name)
    if missing or unknown:
        what = f"no argument for {', '.join(missing)}" if missing else f"no parameter {', '.join(unknown)}"
        raise CompilationError(
            error(
                "X0147",
                f"{source.name}: {what}",
                location=source.locate(source.tree),
                help=f"its parameters are {', '.join(known)}",
            )
        )
    return found


def _value(frame: Frame, spec: ArgumentSpec, values: Iterator[tensor]) -> Any:
    """What a parameter stands for, from the values of the function's parameters in order."""
    if isinstance(spec, Constant):
        return normal(_plain(spec.value))
    if isinstance(spec, CompositeSpec):
        return spec.kind.make([_part(frame, spec, part, values) for part in spec.parts])
    return next(values)


def _part(frame: Frame, whole: CompositeSpec, spec: ArgumentSpec, values: Iterator[tensor]) -> Any:
    value = _value(frame, spec, values)
    # the parts of a descriptor are tensors, also where they are known
    known = isinstance(whole.kind, DescriptorKind) and isinstance(spec, Constant)
    return constant(frame.context, value, dtypes.i64) if known else value


def _type(spec: PointerSpec | ScalarSpec) -> Type:
    return PointerType(spec.element) if isinstance(spec, PointerSpec) else ScalarType(spec.dtype)


def _plain(value: Any) -> Any:
    """A numpy number as Python's."""
    return value.item() if isinstance(value, np.generic) else value
