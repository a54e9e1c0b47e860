"""What can be known of a kernel before it runs: indices as polynomials, accesses as base + strides +
bounds.
"""
