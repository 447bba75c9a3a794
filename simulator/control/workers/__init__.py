"""The workers of a run: registration, barriers, messages, reports."""
