"""Error codes of the family `frontend`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
