"""Measurement `verify`: comparison of stored rows with the generated ones."""
