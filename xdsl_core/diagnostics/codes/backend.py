"""Error codes of the family `backend`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
