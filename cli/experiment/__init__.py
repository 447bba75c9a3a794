"""Experiments: a plan in YAML, its items in order, and what of them has been measured already."""
