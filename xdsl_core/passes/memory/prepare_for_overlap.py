"""A second function for launches whose arguments overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.ir import Function, Module, Op, clone_function
from xdsl_core.ops import Load, Store
from xdsl_core.ops.buffer import Window

_OF, _SUFFIX = "overlapping", ".overlapping"


@dataclass(frozen=True)
class PrepareForOverlap:
    """Adds a copy of each function, in which flags shall order accesses of every two arguments.

        func @f(%a: ptr<f32>, %b: ptr<f32>) { ... }
    ->
        func @f(%a: ptr<f32>, %b: ptr<f32>) { ... }
        func @f.overlapping(%a: ptr<f32>, %b: ptr<f32>) {overlapping = "f"} { ... }

    Arguments that share memory are rare, and keeping the order of what never meets costs time: so the order
    is kept in a function of its own. A kernel that goes through one pointer alone needs none.
    """

    name: ClassVar[str] = "prepare_for_overlap"

    def run(self, module: Module) -> None:
        for function in list(module.functions.values()):
            there = is_for_overlap(function) or f"{function.name}{_SUFFIX}" in module.functions
            if not there and sum(1 for op in function.walk() if _reaches_arguments(op)) > 1:
                add_for_overlap(module, function)


def add_for_overlap(module: Module, function: Function) -> None:
    """Add the copy of a function for arguments that overlap."""
    made = clone_function(function)
    made.name = f"{function.name}{_SUFFIX}"
    made.attributes[_OF] = function.name
    module.add(made)


def _reaches_arguments(op: Op) -> bool:
    return op.definition in (Load, Store, Window)


def is_for_overlap(function: Function) -> bool:
    """Whether a function is the one for arguments that overlap."""
    return _OF in function.attributes


def kernel_of(function: Function) -> str:
    """The name of the kernel that a function runs."""
    return str(function.attributes.get(_OF, function.name))


def plain_function(function: Function, module: Module) -> Function | None:
    """The function that one for arguments that overlap was made from; None for others."""
    name = function.attributes.get(_OF)
    return None if name is None else module.functions[name]
