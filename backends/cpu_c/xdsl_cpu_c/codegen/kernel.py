"""A kernel's C file: from a Module whose accesses are structured to text and the facts a launcher needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.backend import Source
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.dtypes import DType
from xdsl_core.ir import Function, Module, Op, PointerType, TokenType, Trait, Value
from xdsl_cpu_c.build import OVERLAPPING
from xdsl_cpu_c.codegen.blocks import write_block
from xdsl_cpu_c.codegen.context import Context, scalar_c_type
from xdsl_cpu_c.codegen.memory_order import MemoryOrder, parameter_of
from xdsl_cpu_c.codegen.op_tables import C_TYPES, is_narrow_float
from xdsl_cpu_c.codegen.plan import Planner
from xdsl_cpu_c.codegen.writer import Lines
from xdsl_cpu_c.dot import Blocking, dot_prelude
from xdsl_cpu_c.vector import prelude

SCRATCH_LIMIT = 1 << 30
"""Bytes that the tiles of one program may take; each thread has as many."""


def generate(
    module: Module, templates: Mapping[str, str], *, blocking: Blocking, threads: int | None = None
) -> Source:
    """C for the only function of a module; `blocking` cuts matrix products for the machine it will run on.

    The text assumes that pointer arguments do not overlap; the file "overlapping.c" is the variant that does
    not, and is left out where the two are the same. Metadata: `name`, `parameters` (the launch slots in
    order, fields of xdsl_cpu_c.runtime.Parameter), `threads` (how many share the grid, None: the default) and
    `assertions` ([message, file, line, column, end_line, end_column] by site, counted from 1). Raises
    CompilationError X0703 where the tiles need more memory than there is for them.
    """
    (function,) = module.functions.values()
    template = _compiled(templates["kernel.c.j2"])
    slots = parameters_of(function)
    text, failures = _text(function, template, blocking, distinct=True)
    files = {}
    if sum(slot["kind"] == "pointer" for slot in slots) > 1:
        careful, _ = _text(function, template, blocking, distinct=False)
        files = {} if careful == text else {OVERLAPPING: careful}
    sites = [[message, *_place(op)] for message, op in failures]
    about = {"name": function.name, "parameters": slots, "threads": threads, "assertions": sites}
    return Source("c", text, files, about)


def _text(
    function: Function, template: Any, blocking: Blocking, *, distinct: bool
) -> tuple[str, list[tuple[str, Op]]]:
    analysis = IndexAnalysis()
    order = MemoryOrder(analysis, distinct=distinct)
    planner = Planner(order)
    context = Context(analysis, order, planner, blocking, file=function.location.file)
    loads = _parameter_loads(context, function)
    plan = planner.plan(function)
    context.lines = Lines()
    write_block(context, plan, {}).close()
    _check_scratch(context, function)
    helpers = dict(context.helpers)
    includes = [helpers.pop("stdio")] if "stdio" in helpers else []
    written = (*context.lines.lines, *loads, *helpers.values())
    body = "\n".join(f"        {line}" if line else "" for line in context.lines.lines)
    text = template.render(
        title=_title(function),
        includes=includes,
        prelude=prelude([*context.functions, *_types_of(written)]),
        dot_prelude=dot_prelude(context.dot_sources, blocking=blocking) if context.dot_sources else "",
        helpers=list(helpers.values()),
        loads=loads,
        scratch_bytes=context.scratch_bytes,
        declarations=context.declarations,
        program_start=context.program_start,
        body=body,
        axes=[axis for axis in "xyz" if f"program_{axis}" in body],
        uses_grid="program_" in body or "grid[" in body,
        may_stop=bool(context.failures),
    )
    return text, context.failures


def _title(function: Function) -> str:
    """The kernel and where it stands, as the text of a comment."""
    where = function.location
    text = f"{function.name}, {where.file}:{where.line}" if where.line else function.name
    return text.replace("*/", "* /")


def _check_scratch(context: Context, function: Function) -> None:
    if context.scratch_bytes <= SCRATCH_LIMIT:
        return
    sizes = sorted(context.sizes.items(), key=lambda item: -item[1])[:3]
    largest = ", ".join(f"{name} {size >> 20} MiB" for name, size in sizes)
    raise CompilationError(
        error(
            "X0703",
            f"the tiles of {function.name} need {context.scratch_bytes >> 20} MiB of memory a thread",
            location=function.location,
            label=f"the largest: {largest}",
            requires=f"at most {SCRATCH_LIMIT >> 20} MiB",
            help="let a program work on smaller tiles, and launch more programs",
        )
    )


def _place(op: Op) -> tuple[str, int, int, int, int]:
    where = op.location
    return where.file, where.line, where.column, where.end_line, where.end_column


def _types_of(lines: Iterable[str]) -> list[str]:
    """The library's types that variables have although no function of the library is called with them."""
    return ["bool_t"] if any("bool_t" in line for line in lines) else []


@cache
def _compiled(text: str) -> Any:
    """A template ready to render."""
    import jinja2

    return jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True).from_string(
        text
    )


def parameters_of(function: Function) -> list[dict[str, Any]]:
    """The launch slots of a function's parameters: kind, width, and which pointers are read and written."""
    read, written = _touched(function)
    return [
        _slot(value, value in read, value in written) | {"divisor": hints.get("divisible_by", 1)}
        for value, hints in zip(function.parameters, function.parameter_attributes, strict=True)
    ]


def _touched(function: Function) -> tuple[set[Value], set[Value]]:
    """Pointer parameters that are read and that are written; all of them where a pointer's origin is
    unknown.
    """
    touched: dict[Trait, set[Value]] = {Trait.READS_MEMORY: set(), Trait.WRITES_MEMORY: set()}
    pointers = {value for value in function.parameters if isinstance(value.type, PointerType)}
    for op in function.walk():
        for trait, parameters in touched.items():
            if op.has(trait):
                origin = parameter_of(op.operand("pointer"))
                parameters.update(pointers if origin is None else {origin})
    return touched[Trait.READS_MEMORY], touched[Trait.WRITES_MEMORY]


def _slot(value: Value, read: bool, written: bool) -> dict[str, Any]:
    type = value.type
    if isinstance(type, PointerType):
        element = type.pointee
        facts = {"read": read, "written": written, "itemsize": element.bytes, "dtype": element.name}
        return {"name": value.name, "kind": "pointer", **facts}
    assert not isinstance(type, TokenType)
    assert not isinstance(type.element, PointerType)
    element = type.element
    kind = "bool" if element.is_bool else "float" if element.is_float else "int"
    facts = {"bits": element.bits, "signed": element.is_signed, "dtype": element.name}
    return {"name": value.name, "kind": kind, **facts}


def _number(context: Context, element: DType, slot: str) -> str:
    """A parameter's number in its register, rounded once from the double in its slot."""
    double = f"((union {{ uint64_t bits; double value; }}){{{slot}}}).value"
    if not is_narrow_float(element):
        return f"({C_TYPES[element.name]}){double}"
    return context.call(f"round_{element.name}_f32", context.call("odd_f64_f32", double))


def _parameter_loads(context: Context, function: Function) -> list[str]:
    """Declarations that read the parameters from the launch slots."""
    lines = []
    for index, value in enumerate(function.parameters):
        name = context.names.fresh(value.name or "argument")
        context.scalars[value] = name
        slot = f"slots[{index + 2}]"
        type = value.type
        if isinstance(type, PointerType):
            c_type = C_TYPES[type.pointee.name]
            lines.append(f"{c_type} *const {name} = ({c_type} *)(uintptr_t){slot};")
            continue
        assert not isinstance(type, TokenType)
        assert not isinstance(type.element, PointerType)
        c_type = scalar_c_type(type)
        text = f"({c_type}){slot}"
        if type.element.is_float:
            text = _number(context, type.element, slot)
        lines.append(f"const {c_type} {name} = {text};")
    return lines
