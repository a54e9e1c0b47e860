"""Error codes of the family `ir`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
