"""The event engine in Python, written to be read; the C engine does the same steps in the same order."""
