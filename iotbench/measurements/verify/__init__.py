"""Measurement `verify`: comparison of stored rows with the rows of an insert."""
