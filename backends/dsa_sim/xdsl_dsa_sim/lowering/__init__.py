"""From the dialects `buffer` and `task` to instructions of the simulated machine."""
