"""Measurement `verify`: stored rows compared with the generated ones."""
