"""Writing: batches are prepared, encoded and sent on a schedule."""
