"""What the rows are and what is asked of them: pure functions, no I/O."""
