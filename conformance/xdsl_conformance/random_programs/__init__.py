"""Random valid kernels: what writes them, where the choices come from, and how a kernel that fails is made
small.
"""
