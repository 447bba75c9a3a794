"""Measurement `mixed`: inserts and queries at the same time."""
