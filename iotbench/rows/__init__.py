"""Sources of rows other than a workload: a user's own files, and recorded rows."""
