"""Text for people, from a result and its summary: progress, tables, warnings."""
