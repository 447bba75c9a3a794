"""Measurement `mixed`: how fast rows and queries are served at the same time."""
