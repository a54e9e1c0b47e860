"""What `triton.testing` gives: timing, comparing, and tables of measurements."""

from __future__ import annotations

import csv
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xdsl_core.triton_compat.settings import settings

_SUMMARIES: Mapping[str, Callable[[list[float]], Any]] = {
    "min": min,
    "max": max,
    "mean": statistics.fmean,
    "median": statistics.median,
    "all": list,
}


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """How long `fn()` takes, in milliseconds.

    It is called for about `warmup` ms, then for about `rep` ms (once at least, a thousand times at most).
    Gives the summary named by `return_mode` ("min", "max", "mean", "median", "all"), or a list of quantiles.
    Gradients of `grad_to_none` are dropped before each call.
    """
    once = max(_seconds(fn, grad_to_none), 1e-7)
    for _ in range(min(1000, int(warmup * 1e-3 / once))):
        fn()
    samples = [_seconds(fn, grad_to_none) * 1e3 for _ in range(min(1000, max(1, int(rep * 1e-3 / once))))]
    if quantiles is not None:
        found = [float(one) for one in np.quantile(samples, list(quantiles))]
        return found[0] if len(found) == 1 else found
    return _SUMMARIES[return_mode](samples)


def _seconds(fn: Callable[[], Any], grad_to_none: Iterable[Any] | None) -> float:
    for tensor in grad_to_none or ():
        tensor.grad = None
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """As `do_bench`: there are no graphs of launches here."""
    return do_bench(fn, 0, rep, grad_to_none, quantiles, return_mode)


def assert_close(x: Any, y: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """AssertionError unless |x - y| <= atol + rtol * |y| everywhere; NaN equals NaN.

    `atol` (0.01 if None) and `rtol` (0 if None) may be functions of x's dtype. x and y are arrays or numbers.
    """
    limits = [
        limit(getattr(x, "dtype", None)) if callable(limit) else limit
        for limit in (1e-2 if atol is None else atol, 0.0 if rtol is None else rtol)
    ]
    got, wanted = _array(x), _array(y)
    np.testing.assert_allclose(got, wanted, atol=limits[0], rtol=limits[1], equal_nan=True, err_msg=err_msg)


def _array(value: Any) -> np.ndarray[Any, Any]:
    if not hasattr(value, "detach"):
        return np.asarray(value)
    plain = value.detach().cpu()
    return np.asarray(plain.float() if plain.is_floating_point() and plain.itemsize < 4 else plain)


class Benchmark:
    """What a table of measurements holds: a row for each of `x_vals`, a column for each of `line_vals`."""

    def __init__(  # noqa: PLR0917 (Triton's signature)
        self,
        x_names: list[str],
        x_vals: list[Any],
        line_arg: str,
        line_vals: list[Any],
        line_names: list[str],
        plot_name: str,
        args: dict[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Any = None,
    ) -> None:
        self.x_names = x_names
        self.x_vals = x_vals
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.plot_name = plot_name
        self.args = args
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.x_log = x_log
        self.y_log = y_log
        self.styles = styles


class Mark:
    """A function that `perf_report` marked; `run` measures."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Any) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Measure, and print the tables if `print_data`; `save_path` is a folder for them as CSV.

        Nothing is plotted. `return_df` gives pandas' DataFrames, and needs pandas.
        """
        one = isinstance(self.benchmarks, Benchmark)
        plans = [self.benchmarks] if one else list(self.benchmarks)
        if not settings().benchmarks:
            print(f"(left out: {', '.join(plan.plot_name for plan in plans)})")
            return None
        tables = [self._table(plan, kwargs) for plan in plans]
        for plan, table in zip(plans, tables, strict=True):
            if print_data:
                print(f"{plan.plot_name}:")
                print(_text(table))
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                with (Path(save_path) / f"{plan.plot_name}.csv").open(
                    "w", newline="", encoding="utf-8"
                ) as file:
                    csv.writer(file).writerows(table)
        if not return_df:
            return None
        import pandas  # type: ignore[import-untyped]  # a package of the user's

        frames = [pandas.DataFrame(table[1:], columns=table[0]) for table in tables]
        return frames[0] if one else frames

    def _table(self, plan: Benchmark, more: Mapping[str, Any]) -> list[list[Any]]:
        """The names of the columns, then the rows."""
        rows: list[list[Any]] = [[*plan.x_names, *(f"{name} ({plan.ylabel})" for name in plan.line_names)]]
        for value in plan.x_vals:
            values = list(value) if isinstance(value, list | tuple) else [value] * len(plan.x_names)
            given = dict(zip(plan.x_names, values, strict=True))
            found = [
                self.fn(**given, **{plan.line_arg: line}, **plan.args, **more) for line in plan.line_vals
            ]
            rows.append([*values, *(one[0] if isinstance(one, list | tuple) else one for one in found)])
        return rows


def _text(table: Sequence[Sequence[Any]]) -> str:
    cells = [[f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells
    )


def perf_report(benchmarks: Any) -> Callable[[Callable[..., Any]], Mark]:
    """Mark a function for measuring; `.run()` of what it becomes does it."""
    return lambda fn: Mark(fn, benchmarks)


def cuda_memcheck(**target_kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """There is no such checker here: the function stays as it is."""
    return lambda test_fn: test_fn


def get_dram_gbps(device: Any = None) -> float:
    """The bandwidth of memory in GB/s, measured by a copy of 64 MiB."""
    source = np.zeros(1 << 23)
    target = np.zeros_like(source)
    best: float = do_bench(lambda: np.copyto(target, source), 10, 50, return_mode="min")
    return 2 * source.nbytes / best * 1e-6


__all__ = [
    "Benchmark",
    "Mark",
    "assert_close",
    "cuda_memcheck",
    "do_bench",
    "do_bench_cudagraph",
    "get_dram_gbps",
    "perf_report",
]
