"""Doors into the tile IR: Python kernels (`python`), and what is known of a kernel's arguments (`specs`)."""
