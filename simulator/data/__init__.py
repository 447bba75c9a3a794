"""The rows, and the queries about them: pure functions, no I/O."""
