"""Names that other systems add to the language; a kernel that uses them says from where."""
