"""Attention of one new token, with keys in pages that a table finds."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal

HEAD, PAGE = 16, 8


@xdsl.jit
def paged_decode(q, keys, values, table, lengths, out, scale, pages, HEAD: tl.constexpr, PAGE: tl.constexpr):
    """One sequence a program: keys and values are page x PAGE x HEAD, table is sequence x pages."""
    sequence = tl.program_id(0)
    d, slots = tl.arange(0, HEAD), tl.arange(0, PAGE)
    length = tl.load(lengths + sequence)
    x = tl.load(q + sequence * HEAD + d)
    total = tl.zeros((HEAD,), dtype=tl.float32)
    weight, highest = 0.0, -1.0e30
    for number in range(tl.cdiv(length, PAGE)):
        page = tl.load(table + sequence * pages + number)
        inside = number * PAGE + slots < length
        places = page * PAGE * HEAD + slots[:, None] * HEAD + d[None, :]
        k = tl.load(keys + places, mask=inside[:, None], other=0.0)
        v = tl.load(values + places, mask=inside[:, None], other=0.0)
        scores = tl.where(inside, tl.sum(x[None, :] * k, axis=1) * scale, -1.0e30)
        new = tl.maximum(highest, tl.max(scores, axis=0))
        correction = tl.exp(highest - new)
        p = tl.where(inside, tl.exp(scores - new), 0.0)
        weight = weight * correction + tl.sum(p, axis=0)
        total = total * correction + tl.sum(p[:, None] * v, axis=0)
        highest = new
    tl.store(out + sequence * HEAD + d, total / weight)


def _paged(*lengths: int) -> Make:
    def make(generator: Generator) -> Problem:
        pages = max(blocks(length, PAGE) for length in lengths)
        count = len(lengths) * pages
        keys, values = (normal(generator, count, PAGE, HEAD) for _ in range(2))
        table = generator.permutation(count).reshape(len(lengths), pages).astype(np.int32)
        q = normal(generator, len(lengths), HEAD)
        scale = float(np.float32(HEAD**-0.5))
        rows = []
        for number, length in enumerate(lengths):
            k, v = (part[table[number]].reshape(-1, HEAD)[:length] for part in (keys, values))
            scores = (tr.tracked(q[number]) * k).sum(1) * scale
            p = tr.softmax(scores)
            exact = (p.reshape(length, 1) * v).sum(0)
            slack = 2.0 * pages * (10.0 + np.ptp(scores.value)) * tr.U * (p.value @ np.abs(v))
            rows.append(tr.Tracked(exact.value, exact.error + slack))
        arguments = (
            q, keys, values, table, np.array(lengths, np.int32), np.empty_like(q), scale, pages
        )  # fmt: skip
        return Problem((len(lengths),), arguments, {"HEAD": HEAD, "PAGE": PAGE}, {5: tr.stack(rows)})

    return make


KERNELS = (
    KernelCase(
        "paged_decode",
        "full",
        "attention of one token over pages",
        paged_decode,
        {"1.8.20": _paged(1, 8, 20)},
    ),
)
