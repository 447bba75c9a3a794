"""Compares the answers of a run with the truth."""
