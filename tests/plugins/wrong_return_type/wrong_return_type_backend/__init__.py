"""A backend whose hooks return values of wrong types."""
