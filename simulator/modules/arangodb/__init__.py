"""ArangoDB."""
