"""A backend that keeps the whole contract."""
