"""Asks queries, one by one or in turn, and keeps their answers."""
