"""Kernels that run on every installed backend, each compared with numpy."""
