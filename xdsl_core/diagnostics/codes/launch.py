"""Error codes of the family `launch`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
