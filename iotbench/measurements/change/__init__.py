"""Measurement `change`: how fast rows are corrected and deleted."""
