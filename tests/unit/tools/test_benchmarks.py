"""What the benchmarks compute from samples: order, dropped rounds, medians. Nothing here is timed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import harness
from benchmarks.harness import Candidate, Effort, Result, Samples, against_peers, interleave
from benchmarks.noise import Quiet
from benchmarks.plot import write_svg
from benchmarks.probe import Peak


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Samples read off the candidates' own calls instead of a clock; the list is the order they came in."""
    order: list[str] = []

    def sample(candidate: Candidate, repetitions: int) -> tuple[float, bool]:
        order.append(candidate.name)
        return candidate.call()  # type: ignore[return-value]

    monkeypatch.setattr(harness, "_sample", sample)
    monkeypatch.setattr(harness, "_repetitions", lambda candidate: 1)
    return order


def candidate(name: str, *samples: tuple[float, bool]) -> Candidate:
    values = iter(samples)
    return Candidate(name, lambda: next(values))


def test_candidates_take_turns_in_alternating_order(scripted: list[str]) -> None:
    both = [candidate(name, *[(1.0, True)] * 3) for name in "ab"]
    interleave(both, Effort(rounds=3, seconds=60))
    assert "".join(scripted) == "abbaab"


def test_rounds_go_on_until_enough_were_quiet(scripted: list[str]) -> None:
    noisy = candidate("a", (9.0, False), (1.0, True), (9.0, False), (1.0, True))
    (samples,) = interleave([noisy], Effort(rounds=2, seconds=60))
    assert samples.quiet == [False, True, False, True]


def test_the_ratio_is_the_median_over_rounds_that_were_quiet_for_both(scripted: list[str]) -> None:
    ours = candidate("ours", (1.0, True), (2.0, True), (1.0, True), (9.0, False), (1.0, True))
    peer = candidate("peer", (2.0, True), (2.0, True), (9.0, False), (9.0, True), (3.0, True))
    (result,) = against_peers("w", ours, [peer], Effort(rounds=3, seconds=60), amount=2e9, amount_unit="GB/s")
    assert (result.ratio, result.kept, result.taken) == (2.0, 3, 5)
    assert (result.value, result.peer_value) == (1000.0, 2500.0)
    assert result.rate == "2.0 GB/s"


def test_without_enough_quiet_rounds_all_count() -> None:
    assert Samples("a", [1.0, 5.0, 9.0], [True, True, False]).median() == 5.0
    assert Samples("a", [1.0, 2.0, 3.0, 50.0], [True, True, True, False]).median() == 2.0


def test_a_thread_that_waited_or_stolen_time_disturb() -> None:
    before = Quiet({"1": 0, "2": 1_000_000}, stolen=7)
    assert not before.disturbed(Quiet({"1": 40_000_000, "2": 1_000_000, "3": 0}, stolen=7), seconds=1.0)
    assert before.disturbed(Quiet({"1": 0, "2": 61_000_000}, stolen=7), seconds=1.0)
    assert before.disturbed(Quiet({"3": 60_000_000}, stolen=7), seconds=1.0)
    assert before.disturbed(Quiet({}, stolen=8), seconds=1.0)


def test_the_picture_has_a_bar_for_each_ratio(tmp_path: Path) -> None:
    results = [
        Result("softmax 4x4", "time", 1.0, "ms", peer, ratio, ratio, 3, 3)
        for peer, ratio in (("numpy", 2.0), ("torch <out>", 0.5), ("interpreter", 4000.0))
    ]
    write_svg(results, tmp_path / "plot.svg", title="peer / ours")
    picture = ElementTree.parse(tmp_path / "plot.svg").getroot()
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "softmax 4x4  ·  torch <out>" in texts
    bars = [float(element.get("width", "0")) for element in picture.iter("{http://www.w3.org/2000/svg}rect")][
        1:
    ]
    assert bars[0] == pytest.approx(bars[1], abs=0.2)
    assert bars[2] == pytest.approx(4 * bars[0], abs=0.5)


def test_a_rate_is_a_share_of_the_peak_of_its_own_unit() -> None:
    limit = Peak(operations=200.0, bytes=40.0)
    assert limit.share(50.0, "GFLOP/s") == 0.25
    assert limit.share(50.0, "GB/s") == 1.25
    assert limit.share(50.0, "Gop/s") is None
    own, other = Candidate("ours", lambda: None), Candidate("other", lambda: None)
    (result,) = against_peers("w", own, [other], Effort(1, 0.1), amount=1e9, amount_unit="GB/s", limit=limit)
    assert "% of peak" in result.rate
