"""A running sweep for a file, a metrics server, or a page that follows it."""
