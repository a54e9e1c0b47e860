"""Runs a compiled kernel with the arguments that Triton binds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from triton.runtime.jit import TensorWrapper

from xdsl_core.backend import Argument
from xdsl_core.dtypes import DType
from xdsl_core.frontend.specs import PointerSpec, ScalarSpec
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.pointers import Rejected, adapter_of


class TileLauncher:
    """What Triton calls for every launch: extents, stream, kernel, metadata, hooks, then all arguments."""

    def __init__(self, source: Any, metadata: Any) -> None:
        # a source that is a file of TTIR has types alone
        self._signature = list(source.signature.values())

    def __call__(  # noqa: PLR0917 # Triton's order
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        kernel: CompiledKernel,
        packed: Any,
        about: Any,
        enter: Any,
        leave: Any,
        *arguments: Any,
    ) -> None:
        if x * y * z <= 0:
            return
        if enter is not None:
            enter(about)
        run(kernel, (x, y, z), list(_flat(self._signature, arguments)))
        if leave is not None:
            leave(about)


def _flat(kinds: Sequence[Any], values: Sequence[Any]) -> Iterator[Any]:
    """The arguments that exist at run time: constants are left out, tuples and descriptors taken apart."""
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, (tuple, list)):
            yield from _flat(kind, value)
        elif isinstance(kind, str) and kind.startswith("tensordesc"):
            yield from _parts(value)
        elif kind != "constexpr":
            yield value


def _parts(descriptor: Any) -> list[Any]:
    """A descriptor as the parameters that Triton's rewriting makes of it (`decompose_descriptor`)."""
    from triton.backends import driver

    try:
        parts = driver.decompose_descriptor
    except AttributeError:  # 3.6 and 3.7
        nan = descriptor.padding == "nan"
        extents = (*descriptor.shape, *descriptor.strides)
        return [descriptor.base, *extents, nan, *extents]
    return list(parts(descriptor))


def run(kernel: CompiledKernel, grid: tuple[int, int, int], values: Sequence[Any]) -> None:
    """One launch; pointers are anything with `data_ptr()` and `dtype`."""
    specs = [leaf.spec for leaf in kernel.leaves]
    executable = kernel.executable
    if executable.direct is not None and not kernel.backend.launch_watchers:
        plain = _array if executable.takes_objects else _address
        executable.direct(
            grid,
            tuple(
                [
                    plain(value) if isinstance(spec, PointerSpec) else _number(spec.dtype, value)
                    for spec, value in zip(specs, values, strict=True)
                ]
            ),
        )
        return
    given = [
        _argument(leaf.name, leaf.spec, value) for leaf, value in zip(kernel.leaves, values, strict=True)
    ]
    kernel.launch(grid, tuple(given))


def _array(value: Any) -> Any:
    """The array itself; Triton's reinterpretation of a tensor as the tensor."""
    return value.base if isinstance(value, TensorWrapper) else value


def _address(value: Any) -> int:
    return value if isinstance(value, int) else int(value.data_ptr())


def _argument(name: str, spec: PointerSpec | ScalarSpec, value: Any) -> Argument:
    if isinstance(spec, ScalarSpec):
        return _number(spec.dtype, value)  # type: ignore[no-any-return]
    value = _array(value)
    adapter = adapter_of(type(value))
    if adapter is None:
        raise TypeError(f"argument {name!r} of type {type(value).__name__} is no array")
    try:
        # the kernel's dtype: Triton's integers have no sign
        return replace(adapter.full(value, name), dtype=spec.element)
    except Rejected as problem:
        from xdsl_core.runtime.grid import ArgumentError

        raise ArgumentError(problem.explain(name)) from None


def _number(dtype: DType, value: Any) -> Any:
    if dtype.is_float:
        return float(value)
    if dtype.is_bool:
        return bool(value)
    number = int(value)
    # unsigned numbers keep their bits
    return number - (1 << dtype.bits) if number > dtype.highest else number
