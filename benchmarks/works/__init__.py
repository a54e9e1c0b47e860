"""The works of `benchmarks.cpu_vs_peers`, by name; each module has one family."""

from collections.abc import Callable, Mapping

from benchmarks.works import attention, elementwise, matmul, rows
from benchmarks.works.work import Peers, Work

WORKS: Mapping[str, Callable[[str, Peers], Work]] = {
    **matmul.WORKS,
    **rows.WORKS,
    **elementwise.WORKS,
    **attention.WORKS,
}
"""Makes a work for a backend and the peers there are."""
