"""The process that runs kernels in Triton's interpreter: reads requests, answers each; started by `client`.

It is a process of its own because Triton decides when it is imported whether it interprets, and because a
wrong address ends it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import pickle
import sys
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from xdsl_core.dtypes import BY_NAME, DType
from xdsl_core.ops.numerics import round_to
from xdsl_gpu_triton.generated import import_file
from xdsl_gpu_triton.interpreter.messages import HEADER, Failure, Number, Place, Reply, Request

_ALIGNMENT = 64


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answers requests until there are no more."""
    from triton.runtime import interpreter

    _adapt(interpreter)
    while True:
        try:
            request: Request = pickle.load(requests)
        except EOFError:
            return
        answer = pickle.dumps(_answer(request, interpreter), protocol=pickle.HIGHEST_PROTOCOL)
        replies.write(len(answer).to_bytes(HEADER, "little") + answer)
        replies.flush()


def _answer(request: Request, interpreter: Any) -> Reply:
    printed, failure = io.StringIO(), None
    storages = [_Storage(content, remainder) for content, remainder in request.storages]
    try:
        with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
            module = import_file(Path(request.file))
            module.__dict__["range"] = _ranges(interpreter)
            kernel = getattr(module, request.kernel)
            arguments = [_argument(each, storages, interpreter) for each in request.arguments]
            kernel[request.grid](*arguments)
    except Exception as problem:
        failure = _failure(problem, request.file, interpreter)
    changed = tuple(
        storage.changed(before) for storage, (before, _) in zip(storages, request.storages, strict=True)
    )
    return Reply(changed, printed.getvalue(), failure)


class _Storage:
    """Memory of an argument at an address that is as aligned as the caller's."""

    def __init__(self, content: bytes, remainder: int) -> None:
        self.memory = np.zeros(len(content) + 2 * _ALIGNMENT, np.uint8)
        start = (remainder - self.memory.ctypes.data) % _ALIGNMENT
        self.bytes = self.memory[start : start + len(content)]
        self.bytes[:] = bytearray(content)
        self.address = int(self.bytes.ctypes.data)

    def changed(self, before: bytes) -> bytes | None:
        """The content after the run, None if it is what it was."""
        after = self.bytes.tobytes()
        return None if after == before else after


def _argument(given: Place | Number, storages: list[_Storage], interpreter: Any) -> Any:
    """A value of Triton's interpreter, of exactly the parameter's type."""
    language = interpreter.tl
    if isinstance(given, Place):
        kind = language.pointer_type(_triton_type(BY_NAME[given.dtype], language))
        data = np.array([storages[given.storage].address + given.offset], np.uint64)
    else:
        dtype = BY_NAME[given.dtype]
        kind = _triton_type(dtype, language)
        data = _stored(given.value, dtype)
    return language.tensor(interpreter.TensorHandle(data, kind), kind)


def _stored(value: int | float | bool, dtype: DType) -> Any:
    """A number as the interpreter keeps it: rounded once, narrow floats as their bits."""
    if not dtype.is_float:
        return np.array([value], dtype.numpy)
    rounded = np.asarray(round_to(dtype, np.array([value], np.float64))).astype(dtype.numpy)
    return rounded if dtype.numpy.kind == "f" else rounded.view(np.dtype(f"u{dtype.bytes}"))


def _triton_type(dtype: DType, language: Any) -> Any:
    return getattr(language, dtype.triton)


def _failure(problem: Exception, file: str, interpreter: Any) -> Failure:
    """What went wrong, and in which line of the generated file."""
    cause: BaseException = problem
    line = 0
    while True:
        for frame in traceback.extract_tb(cause.__traceback__):
            if frame.filename == file and frame.lineno:
                line = frame.lineno
        if cause.__cause__ is None or not isinstance(cause, interpreter.InterpreterError):
            break
        cause = cause.__cause__
    text = "".join(traceback.format_exception(problem))
    assertion = isinstance(cause, AssertionError) and _check.__name__ in text
    program = tuple(getattr(interpreter.interpreter_builder, "grid_idx", (0, 0, 0)))
    return Failure(assertion, f"{cause}", type(cause).__name__, line, program, text)


def _adapt(interpreter: Any) -> None:
    """Makes ranges give numbers of Triton's types, and prints look as `debug.print` promises."""
    patch = interpreter._patch_lang_core

    def patched(language: Any, *scope: Any) -> None:
        patch(language, *scope)
        language_range = _ranges(interpreter)
        if scope:
            scope[0].set_attr(language, "range", language_range)
        else:
            language.range = language_range

    interpreter._patch_lang_core = patched
    interpreter.interpreter_semantic.device_print = _printer(interpreter)
    builder = interpreter.interpreter_builder
    # assertions are in a kernel only where it was compiled for debugging
    builder.options = dataclasses.replace(builder.options, debug=True, sanitize_overflow=False)
    builder.create_assert = _check
    builder.create_splat = partial(_splat, interpreter)
    builder.get_all_ones_value = partial(_all_ones, interpreter)
    # before 3.9 these let NaN win
    builder.create_minnumf = lambda left, right: builder.binary_op(left, right, np.fmin)
    builder.create_maxnumf = lambda left, right: builder.binary_op(left, right, np.fmax)


def _check(condition: Any, message: str) -> None:
    if not condition.data.all():
        raise AssertionError(message)


def _all_ones(interpreter: Any, kind: Any) -> Any:
    """All bits set; before 3.9 Triton's own has no such number of unsigned integers."""
    storage = interpreter._get_np_dtype(kind)
    return interpreter.TensorHandle(~np.zeros(1, storage), kind.scalar)


def _splat(interpreter: Any, kind: Any, value: Any) -> Any:
    """Repeats a scalar as it is; Triton's own takes the result of a comparison for a number."""
    shape = [int(extent) for extent in kind.shape]
    data = np.full(shape, value.data.reshape(-1)[0], dtype=value.data.dtype)
    return interpreter.TensorHandle(data, value.dtype.scalar)


def _ranges(interpreter: Any) -> Any:
    """A `range` whose numbers are Triton's scalars: an index of a loop has a dtype in compiled code."""
    language = interpreter.tl

    def number(value: Any) -> tuple[int, Any]:
        if isinstance(value, language.tensor):
            return int(value.handle.data.item()), value.dtype
        return int(getattr(value, "value", value)), None

    def typed_range(first: Any, second: Any = None, step: Any = None, **hints: Any) -> Iterator[Any]:
        bounds = (0, first, 1 if step is None else step) if second is None else (first, second, step or 1)
        numbers = [number(bound) for bound in bounds]
        kind = next((dtype for _, dtype in numbers if dtype is not None), language.int32)
        storage = np.dtype(kind.name)
        for value in range(*(number for number, _ in numbers)):
            yield language.tensor(interpreter.TensorHandle(np.array([value], storage), kind), kind)

    return typed_range


def _printer(interpreter: Any) -> Any:
    builder = interpreter.interpreter_builder

    def device_print(prefix: str, values: list[Any], hex: bool) -> None:
        head = f"({', '.join(map(str, builder.grid_idx))})" + (f" {prefix}" if prefix else "")
        for value in values:
            array = value.handle.data.reshape([int(extent) for extent in value.shape])
            print(f"{head} {_shown(array, value.dtype.scalar.is_ptr() or hex)}")
        if not values:
            print(head)

    return device_print


def _shown(array: Any, hexadecimal: bool) -> str:
    if array.ndim:
        return "[" + " ".join(_shown(part, hexadecimal) for part in array) + "]"
    if array.dtype.kind == "f":
        return f"{array.item():g}"
    if hexadecimal and array.dtype.kind != "b":
        bits = array.dtype.itemsize * 8
        return f"0x{int(array) & (1 << bits) - 1:0{bits // 4}x}"
    return str(int(array))


def main() -> None:
    """Serves on the two file descriptors of the command line; what else writes to stdout goes to stderr."""
    given, answers = (int(text) for text in sys.argv[1:])
    os.environ["TRITON_INTERPRET"] = "1"
    sys.stdout = sys.stderr
    with os.fdopen(given, "rb") as requests, os.fdopen(answers, "wb") as replies:
        serve(requests, replies)


if __name__ == "__main__":
    main()
