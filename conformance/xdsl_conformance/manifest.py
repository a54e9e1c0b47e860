"""The lists of cases that are committed: what is asked, and what must pass everywhere it is claimed.

data/manifest.txt has a line a case, `id<TAB>profile`; an id in it is never given to another question.
data/mustpass-*.txt has the ids of a profile: what a backend must pass, as far as it claims it, to claim the
profile.
Write them anew with `python -m xdsl_conformance.manifest`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from xdsl_conformance.case import PROFILES, in_profile
from xdsl_conformance.catalogue import catalogue


def lists() -> dict[str, str]:
    """The texts of all lists, by file name, as they should be."""
    cases = sorted(catalogue().values(), key=lambda case: case.id)
    found = {"manifest.txt": "".join(f"{case.id}\t{case.profile}\n" for case in cases)}
    for profile in PROFILES:
        chosen = (case for case in cases if in_profile(case, profile))
        found[f"mustpass-{profile}.txt"] = "".join(f"{case.id}\n" for case in chosen)
    return found


def committed(name: str) -> str:
    """A list as it was released."""
    return (files("xdsl_conformance") / "data" / name).read_text(encoding="utf-8")


def main() -> None:
    """Write the lists into the package's folder."""
    folder = Path(__file__).parent / "data"
    for name, text in lists().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{name}: {text.count(chr(10))} cases")


if __name__ == "__main__":
    main()
