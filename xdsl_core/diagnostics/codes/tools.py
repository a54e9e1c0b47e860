"""Error codes of the family `tools`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
