"""Kernels as libraries for programs that run without Python."""
