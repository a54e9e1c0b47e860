"""The simulator: runs instruction streams event by event, for values and for cycles."""
