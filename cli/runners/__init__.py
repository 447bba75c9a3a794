"""Runners: where collector and workers run."""
