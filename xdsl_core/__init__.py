"""xdsl-core: one kernel language, one tile IR, many chips."""

__version__ = "0.1.0"
