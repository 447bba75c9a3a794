"""Measurement `query`: how fast queries are answered."""
