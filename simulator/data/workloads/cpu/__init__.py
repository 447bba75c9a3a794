"""Workload `cpu`: one table of ten tags and ten percentages."""
