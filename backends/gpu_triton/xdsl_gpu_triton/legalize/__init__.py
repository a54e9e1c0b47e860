"""Passes that make tile IR something stock Triton can express, where that is exact."""
