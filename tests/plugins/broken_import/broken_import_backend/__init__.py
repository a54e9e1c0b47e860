"""A backend whose module raises while it is imported."""
