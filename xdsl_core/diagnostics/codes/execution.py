"""Error codes of the family `execution`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
