"""The command `xdslc`."""
