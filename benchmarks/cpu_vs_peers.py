"""Kernels on cpu_c against numpy, PyTorch and numba: one process, interleaved, outputs preallocated.

python -m benchmarks.cpu_vs_peers [--only TEXT] [--quick] [--torch-compile] [--json FILE] [--svg FILE]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Candidate, Effort, Result, against_peers, show, write_json
from benchmarks.noise import in_prepared_process
from benchmarks.plot import write_svg
from benchmarks.probe import peak
from benchmarks.works import WORKS
from benchmarks.works.work import Peers

QUICK = Effort(rounds=5, seconds=6.0)
FULL = Effort(rounds=21, seconds=40.0)


def optional_torch() -> Any:
    """PyTorch on all processors, or None."""
    if importlib.util.find_spec("torch") is None:
        print("note: PyTorch is not installed; its columns are missing", file=sys.stderr)
        return None
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.set_grad_enabled(False)
    return torch


def optional_numba() -> Any:
    """numba, or None."""
    if importlib.util.find_spec("numba") is None:
        return None
    import numba

    return numba


def description(peers: Peers) -> str:
    """What ran where, for the table's title."""
    others = {"torch": peers.torch, "numba": peers.numba}
    versions = [f"numpy {np.__version__}", *(f"{name} {it.__version__}" for name, it in others.items() if it)]
    processors = len(os.sched_getaffinity(0))
    own = importlib.metadata.version("xdsl-core")
    return f"xdsl-core {own} against {', '.join(versions)}; {processors} processors, {platform.machine()}"


def main() -> int:
    """Measures the works that were asked for; the exit status is 1 if a result was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="only works whose name has this text (repeatable)")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--torch-compile", action="store_true", help="torch.compile too: minutes")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--svg", type=Path, help="draw the ratios into this file")
    parser.add_argument("--backend", default="cpu_c")
    parser.add_argument("--list", action="store_true", help="print the names of the works and stop")
    options = parser.parse_args()
    chosen = [name for name in WORKS if not options.only or any(text in name for text in options.only)]
    if options.list or not chosen:
        print("\n".join(WORKS))
        return 0 if options.list else 1
    in_prepared_process()

    torch, effort = optional_torch(), QUICK if options.quick else FULL
    peers = Peers(torch, optional_numba(), bool(torch) and options.torch_compile)
    limit = peak()
    results: list[Result] = []
    wrong: list[str] = []
    for name in chosen:
        work = WORKS[name](options.backend, peers)
        work.ours()
        comparison = work.check()
        if not comparison.passed:
            wrong.append(f"{name}: {comparison}")
            continue
        others = [Candidate(peer, call) for peer, call in work.peers.items()]
        ours = Candidate("ours", work.ours)
        results += against_peers(
            name, ours, others, effort, amount=work.amount, amount_unit=work.amount_unit, limit=limit
        )
        print(f"{name}: done", file=sys.stderr)
    title = description(peers)
    show(results, title=title)
    print(f"peak: {limit.operations:.0f} GFLOP/s of float32 multiply-adds, {limit.bytes:.1f} GB/s copied")
    if options.json:
        write_json([asdict(result) for result in results], options.json)
    if options.svg:
        write_svg(results, options.svg, title=f"time of the peer / our time: {title}")
    for text in wrong:
        print(f"wrong result, not measured: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
