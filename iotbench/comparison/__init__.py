"""Comparison of results with each other, by intervals, and with thresholds."""
