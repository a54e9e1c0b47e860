"""The conformance suite: cases every backend is measured with, verdicts, reports."""
