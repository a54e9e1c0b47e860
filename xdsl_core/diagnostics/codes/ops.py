"""Error codes of the family `ops`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
