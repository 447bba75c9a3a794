"""Runs sweeps from checked options, to the end."""
