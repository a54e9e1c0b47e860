"""The event engine in C: the same steps in the same order as the Python one, for speed."""
