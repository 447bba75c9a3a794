"""Comparison of results with each other, with intervals, and with thresholds."""
