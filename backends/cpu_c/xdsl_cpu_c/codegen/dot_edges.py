"""What a product leaves out beyond the valid rows and columns: zeros there meet elements of the other factor.

A zero times an infinity or NaN is NaN; times anything else it changes nothing.
"""

from __future__ import annotations

from xdsl_cpu_c.codegen.context import Context
from xdsl_cpu_c.codegen.op_tables import C_TYPES

_BEYOND_ROWS = """\
/* Rows of zeros: the column sums of zeros times the packed rhs, added to each. */
static void {kernel}_beyond_rows({c} *out, const {c} *panels, int rows, int columns, int depth)
{{
    static const {c} zeros[{k}];
    {c} sums[{n}] = {{0}};
    {kernel}(sums, {n}, zeros, {k}, panels, 1, columns, depth);
    for (int i = rows; i < {m}; ++i)
        for (int j = 0; j < columns; ++j)
            out[{n} * i + j] += sums[j];
}}
"""

_BEYOND_COLUMNS = """\
/* Columns of zeros: NaN in the rows of lhs that hold an infinity or NaN. */
static void {kernel}_beyond_columns({c} *out, const {c} *lhs, int64_t step, int rows, int columns, int depth)
{{
    for (int i = 0; i < rows; ++i) {{
        int special = 0;
        for (int d = 0; d < depth; ++d)
            special |= lhs[step * i + d] - lhs[step * i + d] != 0;
        for (int j = special ? columns : {n}; j < {n}; ++j)
            out[{n} * i + j] = __builtin_nan{suffix}("");
    }}
}}
"""


def write_beyond_rows(
    context: Context, kernel: str, kind: str, shape: tuple[int, int, int], arguments: tuple[str, ...]
) -> None:
    """Rows of the result beyond the valid ones; `arguments`: out, panels, rows, columns, depth."""
    rows = arguments[2]
    _write(context, _BEYOND_ROWS, f"{kernel}_beyond_rows", kernel, kind, shape)
    context.lines.add(f"if ({rows} < {shape[0]})")
    context.lines.add(f"    {kernel}_beyond_rows({', '.join(arguments)});")


def write_beyond_columns(
    context: Context, kernel: str, kind: str, shape: tuple[int, int, int], arguments: tuple[str, ...]
) -> None:
    """Columns beyond the valid ones; `arguments`: out, lhs, its row stride, rows, columns, depth."""
    columns = arguments[4]
    _write(context, _BEYOND_COLUMNS, f"{kernel}_beyond_columns", kernel, kind, shape)
    context.lines.add(f"if ({columns} < {shape[1]})")
    context.lines.add(f"    {kernel}_beyond_columns({', '.join(arguments)});")


def _write(
    context: Context, template: str, name: str, kernel: str, kind: str, shape: tuple[int, int, int]
) -> None:
    m, n, k = shape
    suffix = "f" if kind == "f32" else ""
    text = template.format(kernel=kernel, c=C_TYPES[kind], m=m, n=n, k=k, suffix=suffix)
    context.helpers.setdefault(name, text)
