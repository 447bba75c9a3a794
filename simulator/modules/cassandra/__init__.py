"""Cassandra, and what speaks CQL."""
