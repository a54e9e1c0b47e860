"""Finding a kernel that is named as FILE:KERNEL on the command line, and the types of its arguments."""

from __future__ import annotations

import difflib
import importlib.util
import sys
import traceback
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

from xdsl_core.cli.signature import check_names, parse_signature
from xdsl_core.diagnostics import CompilationError, XdslError, error
from xdsl_core.frontend.specs import ArgumentSpec, Constant

SIGNATURES = "SIGNATURES"
LAUNCHES = "LAUNCHES"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A kernel with the specs of its arguments, by parameter.

    `launch` are the arguments that its file gives for a launch, in the table LAUNCHES.
    """

    kernel: Any
    specs: dict[str, ArgumentSpec]
    launch: str = ""


def choose(place: str, signature: str | None) -> Chosen:
    """The kernel at FILE:KERNEL; the signature is the given one, else the file's own in SIGNATURES.

    Errors: X0801 to X0804 for the place, X0805 and X0806 for the signature.
    """
    file, name = split_place(place)
    module = load_file(file)
    kernel = find_kernel(module, name, file)
    text = signature if signature is not None else _signature_of_file(module, kernel.name, file)
    given = parse_signature(text)
    defaults = {p.name: Constant(p.default) for p in kernel.parameters if p.default is not Parameter.empty}
    check_names(kernel.name, kernel.arg_names, tuple(defaults), given)
    _check_constants(kernel, given)
    specs = {**defaults, **given}
    launch = str(getattr(module, LAUNCHES, {}).get(kernel.name, ""))
    return Chosen(kernel, {name: specs[name] for name in kernel.arg_names}, launch)


def _check_constants(kernel: Any, given: dict[str, ArgumentSpec]) -> None:
    """X0806 for each constexpr parameter that was given a type instead of a value."""
    found = [
        error(
            "X0806",
            f"{parameter.name} of {kernel.name} is a constexpr parameter, and has no type at run time",
            help=f"give its value: {parameter.name}=...",
        )
        for parameter in kernel.parameters
        if parameter.is_constexpr and not isinstance(given.get(parameter.name, Constant(None)), Constant)
    ]
    if found:
        raise CompilationError(found)


def split_place(place: str) -> tuple[Path, str]:
    """The file and the kernel's name ("" if there is none) in FILE:KERNEL; X0801 if there is no such file."""
    text, _, name = place.rpartition(":")
    if not text:
        text, name = place, ""
    file = Path(text)
    if not file.is_file():
        hint = "write FILE:KERNEL, for example examples/matmul.py:matmul_kernel"
        raise CompilationError(error("X0801", f"there is no file {text}", help=hint))
    return file, name


def load_file(file: Path) -> ModuleType:
    """The module that running `file` gives; X0803 with the file's own traceback if it fails."""
    name = f"_xdslc_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise CompilationError(
            error("X0801", f"{file} is no Python file", help="name a file that ends in .py")
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except XdslError:
        raise
    except (Exception, SystemExit) as problem:
        text = f"importing {file} failed: {type(problem).__name__}: {problem}"
        lines = traceback.format_exception(problem)
        note = "".join(lines[:1] + lines[-3:]).rstrip()
        raise CompilationError(error("X0803", text, note=note, help=f"python {file} must run")) from problem
    return module


def find_kernel(module: ModuleType, name: str, file: Path) -> Any:
    """The kernel of this name, or the only one if the name is empty; X0802 with what the file has."""
    from xdsl_core.runtime.jit import JitFunction

    kernels = {key: value for key, value in vars(module).items() if isinstance(value, JitFunction)}
    own = {key: value for key, value in kernels.items() if value.__module__ == module.__name__}
    if name in kernels:
        return kernels[name]
    if not name and len(own) == 1:
        return next(iter(own.values()))
    listed = ", ".join(own) or "none"
    near = difflib.get_close_matches(name, kernels, n=1)
    message = f"{file} has no kernel {name!r}" if name else f"{file} has {len(own)} kernels: name one of them"
    hint = f"did you mean {near[0]!r}?" if near else f"write {file}:KERNEL"
    raise CompilationError(error("X0802", message, note=f"its kernels: {listed}", help=hint))


def _signature_of_file(module: ModuleType, name: str, file: Path) -> str:
    table = getattr(module, SIGNATURES, {})
    if name in table:
        return str(table[name])
    raise CompilationError(
        error(
            "X0804",
            f"the types of the arguments of {name} are not known",
            help=f'give --signature "x: *f32, n: i32, BLOCK=1024", or define in {file}:\n'
            f'{SIGNATURES} = {{"{name}": "x: *f32, n: i32, BLOCK=1024"}}',
        )
    )
