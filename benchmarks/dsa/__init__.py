"""Kernels whose times on accelerators were published, and how they are simulated."""
