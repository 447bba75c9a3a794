"""Measurement `insert`: how fast rows are acknowledged."""
