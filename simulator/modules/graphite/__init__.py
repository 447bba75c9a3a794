"""Graphite."""
