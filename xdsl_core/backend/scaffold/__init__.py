"""The scaffold of a backend: a small repository that works at once, for vendors to start from."""

from xdsl_core.backend.scaffold.writer import write_backend

__all__ = ["write_backend"]
