"""A kernel as Triton stores it: the text of its IR with target and options, and its compiled form."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from xdsl_core.backend import default_registry
from xdsl_core.frontend.specs import ArgumentSpec, PointerSpec, ScalarSpec
from xdsl_core.frontend.ttir import read_ttir
from xdsl_core.ir import Module
from xdsl_core.ir.types import PointerType, dtype_of
from xdsl_core.runtime.compile import Request, compile_request
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.target import Target


def describe(ttir: str, target: Target, **options: Any) -> bytes:
    """What Triton keeps of a kernel, on disk too."""
    return json.dumps({"ttir": ttir, "target": str(target), "options": options}).encode()


@cache
def compile_program(program: bytes) -> CompiledKernel:
    """The compiled kernel of what `describe` made; once a process, and from this package's cache."""
    stored = json.loads(program)
    module = read_ttir(stored["ttir"])
    backend, target = default_registry().resolve(stored["target"])
    (function,) = module.functions.values()

    def build(*_: Any, **__: Any) -> Module:
        return module

    request = Request(
        function.name,
        build,
        hashlib.sha256(stored["ttir"].encode()).hexdigest(),
        argument_specs(module),
        backend,
        target,
        backend.options(stored["options"]),
    )
    return compile_request(request)


def argument_specs(module: Module) -> dict[str, ArgumentSpec]:
    """What the parameters of a module's function are, by name."""
    (function,) = module.functions.values()
    found: dict[str, ArgumentSpec] = {}
    for parameter, hints in zip(function.parameters, function.parameter_attributes, strict=True):
        aligned = hints.get("divisible_by", 1) % 16 == 0
        kind = parameter.type
        if isinstance(kind, PointerType):
            found[parameter.name] = PointerSpec(kind.pointee, aligned)
        else:
            found[parameter.name] = ScalarSpec(dtype_of(kind), aligned)
    return found
