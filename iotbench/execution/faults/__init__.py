"""Faults that a run injects, and their victims."""
