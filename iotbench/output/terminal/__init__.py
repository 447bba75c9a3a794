"""Shows results as text in the terminal: progress, tables and notes."""
