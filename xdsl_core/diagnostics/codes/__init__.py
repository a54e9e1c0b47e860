"""Explain texts of the error codes, one module a family."""
