"""Live output of a running sweep: to a file, a metrics server, or a page."""
