"""Answers about rows that are arriving."""
