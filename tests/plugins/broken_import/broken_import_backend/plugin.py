"""Raises on import, as a package does that was built for a library that is not installed."""

import library_that_nobody_has  # noqa: F401
