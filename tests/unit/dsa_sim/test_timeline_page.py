"""The timeline in a browser: it draws, tells the kernel's line under the mouse, zooms, asks no network."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,800 --virtual-time-budget=5000 --dump-dom"
)
# What a reader does with the page: look at the drawing, point at the first bar of a row, turn the wheel.
READER = """
<script>
const report = {rows: data.rows, errors: window.pageErrors};
function pixels() {
  const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let i = 0; i < image.length; i += 4) seen.add(image[i] + "," + image[i + 1] + "," + image[i + 2]);
  return seen.size;
}
function at(bar, type) {
  const box = canvas.getBoundingClientRect();
  const across = box.left + x((bar[1] + bar[2]) / 2), down = box.top + top_ + bar[0] * rowHeight + 8;
  canvas.dispatchEvent(new MouseEvent(type, {clientX: across, clientY: down, bubbles: true}));
}
report.colours = pixels();
report.tips = perRow.filter(bars => bars.length).map(bars => {
  at(bars[0], "mousemove");
  return tip.textContent;
});
report.shown = tip.style.display;
canvas.dispatchEvent(new MouseEvent("mouseleave"));
report.hidden = tip.style.display;
const before = to - from;
canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -100, clientX: 600, clientY: 60, cancelable: true}));
report.zoomed = (to - from) / before;
report.requests = performance.getEntriesByType("resource").map(entry => entry.name);
const out = document.createElement("pre");
out.id = "report";
out.textContent = JSON.stringify(report);
document.body.append(out);
</script>
"""
LISTENER = (
    "<script>window.pageErrors = []; window.onerror = text => { window.pageErrors.push(text); };</script>"
)


@xdsl.jit
def scaled(x, out, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + lanes, mask=lanes < n)
    tl.store(out + lanes, values * 3 + 1, mask=lanes < n)


def read_by(browser: str, page: str, folder: Path) -> dict[str, Any]:
    """What the reader found on the page."""
    file = folder / "page.html"
    changed = page.replace("<body>", f"<body>{LISTENER}").replace("</body>", f"{READER}</body>")
    file.write_text(changed, encoding="utf-8")
    command = [browser, *OPTIONS.split(), f"--user-data-dir={folder / 'profile'}", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    found = re.search(r'<pre id="report">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    report: dict[str, Any] = json.loads(html.unescape(found[1]))
    return report


@pytest.mark.skipif(BROWSER is None, reason="no browser (Debian, Ubuntu: apt install chromium)")
def test_a_reader_sees_bars_and_the_kernels_lines(tmp_path: Path) -> None:
    x, out = np.ones((2, 5000), np.float32)
    profile = scaled.on("dsa_sim:ascend910b2").profile((5,), x, out, 5000, BLOCK=1024, trace=True)
    assert profile is not None
    page = profile.views["timeline.html"]()
    assert BROWSER is not None
    report = read_by(BROWSER, page, tmp_path)
    assert report["errors"] == []
    assert report["requests"] == []
    assert report["colours"] > 10
    assert any("MTE2" in row for row in report["rows"])
    tips = "\n".join(report["tips"])
    assert "values = tl.load(x + lanes, mask=lanes < n)" in tips
    assert "tl.store(out + lanes, values * 3 + 1, mask=lanes < n)" in tips
    assert "test_timeline_page.py:" in tips
    assert re.search(r"after flags of AIV\[\d\] MTE2", tips)
    assert re.search(r"sets flags for AIV\[\d\] V", tips)
    assert (report["shown"], report["hidden"]) == ("block", "none")
    assert report["zoomed"] == pytest.approx(0.8)
