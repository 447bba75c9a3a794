"""Data files for tests."""
