"""Scripts that measure and print; nothing here is a test."""
