"""Results as text in the terminal: progress, tables, notes."""
