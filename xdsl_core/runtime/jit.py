"""@xdsl.jit: a Python function becomes a kernel, with Triton's spelling of a launch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, update_wrapper
from typing import Any, NoReturn, TypeVar, overload

from xdsl_core.diagnostics import UNKNOWN, CompilationError, Location, error
from xdsl_core.frontend.python.source import JitSource, Parameter
from xdsl_core.runtime.grid import ArgumentError
from xdsl_core.runtime.kernel import Kernel, KernelSource
from xdsl_core.runtime.specialise import ParameterRule, dtype_named_by

Function = TypeVar("Function", bound=Callable[..., Any])


class JitFunction(JitSource, Kernel):
    """A kernel, and a function that other kernels may call.

    `kernel[grid](*args, **meta)` launches it on the selected backend,
    `kernel.on("dsa_sim:ascend910b2")[grid](...)` on another one. `meta` holds the constexpr parameters and
    the backend's options (num_warps, ...).

    Arguments are specialised as in Triton: an integer equal to 1 is compiled in, and so is None; integers and
    addresses that are multiples of 16 let the compiler know. Integers are i32 if they fit, else i64 (u64
    above its range); floats are f32, bools i1; an annotation such as `n: tl.int64` fixes the type of a
    scalar. A pointer argument is the array's first element, whatever its strides.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        do_not_specialize: Iterable[str | int] = (),
        do_not_specialize_on_alignment: Iterable[str | int] = (),
        debug: bool | None = None,
        noinline: bool = False,
    ) -> None:
        super().__init__(function, do_not_specialize=do_not_specialize)
        self._alignment_free = frozenset(do_not_specialize_on_alignment)
        self.debug = debug
        self.noinline = noinline
        update_wrapper(self, function, updated=())

    @property
    def fn(self) -> Callable[..., Any]:
        """Triton's name for `function`."""
        return self.function

    @cached_property
    def _source(self) -> KernelSource:
        parameters = self.parameters
        self._refuse_variadic(parameters)
        return KernelSource(
            self.name,
            tuple(self._rule(index, parameter) for index, parameter in enumerate(parameters)),
            {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty},
            self._build,
            self.dependency_key,
            self._guards,
            self._locate,
            {} if self.debug is None else {"debug": self.debug},
        )

    def _rule(self, index: int, parameter: Parameter) -> ParameterRule:
        annotation = parameter.annotation
        known = annotation is not inspect.Parameter.empty and not parameter.is_constexpr
        name = parameter.name
        return ParameterRule(
            name,
            parameter.is_constexpr,
            dtype_named_by(annotation) if known else None,
            not parameter.do_not_specialize,
            not (name in self._alignment_free or index in self._alignment_free),
        )

    def _refuse_variadic(self, parameters: Iterable[Parameter]) -> None:
        for parameter in parameters:
            if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                problem = error(
                    "X0516",
                    f"the kernel {self.name} takes any number of arguments ({parameter.name})",
                    location=self._locate(""),
                    help="name its parameters; only helpers called from kernels may take *arguments",
                )
                raise ArgumentError(problem)

    def _build(self, specs: Mapping[str, Any], *, debug: bool, operations: Mapping[str, Any]) -> Any:
        from xdsl_core.frontend.python.build import build_module

        return build_module(self, specs, debug=debug, operations=operations)

    def _guards(self) -> Any:
        from xdsl_core.runtime.guards import guards

        return guards(self)

    def _locate(self, name: str) -> Location:
        """Where a parameter, or for "" the function, is defined."""
        try:
            arguments = self.tree.args
        except CompilationError:
            return UNKNOWN
        nodes = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return self.locate(next((node for node in nodes if node.arg == name), self.tree))

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        problem = error(
            "X0512",
            f"{self.name} was called like a Python function",
            location=self._locate(""),
            note="a function with @xdsl.jit runs over a grid, or is called from another kernel",
            help=f"write {self.name}[grid](...), for example {self.name}[(1,)](...)",
        )
        raise ArgumentError(problem)

    def __repr__(self) -> str:
        return f"<kernel {self.name} of {self.file}>"


@overload
def jit(fn: Callable[..., Any]) -> JitFunction: ...


@overload
def jit(
    fn: None = None,
    *,
    version: Any = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Iterable[str | int] | None = None,
    do_not_specialize_on_alignment: Iterable[str | int] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Callable[[Callable[..., Any]], JitFunction]: ...


def jit(
    fn: Callable[..., Any] | None = None,
    *,
    version: Any = None,
    repr: Callable[..., str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Iterable[str | int] | None = None,
    do_not_specialize_on_alignment: Iterable[str | int] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> JitFunction | Callable[[Callable[..., Any]], JitFunction]:
    """Makes a kernel of a Python function: `@xdsl.jit`, or with options `@xdsl.jit(debug=True)`.

    `do_not_specialize` names parameters (or gives their positions) whose values must not lead to another
    compilation; `do_not_specialize_on_alignment` leaves out divisibility alone. `debug` turns device
    assertions on wherever the launch does not say otherwise. `noinline`, `version`, `repr` and
    `launch_metadata` are accepted as in Triton and change nothing: helpers are always inlined, and observers
    (see xdsl_core.backend.hookspecs) are told of launches.
    """

    def decorate(function: Callable[..., Any]) -> JitFunction:
        return JitFunction(
            function,
            do_not_specialize=do_not_specialize or (),
            do_not_specialize_on_alignment=do_not_specialize_on_alignment or (),
            debug=debug,
            noinline=bool(noinline),
        )

    return decorate if fn is None else decorate(fn)
