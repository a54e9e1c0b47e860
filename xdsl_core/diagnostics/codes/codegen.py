"""Error codes of the family `codegen`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {}
