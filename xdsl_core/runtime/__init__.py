"""Launching kernels: arguments, specialisation, compilation, caches, the choice of backend, tuning."""
