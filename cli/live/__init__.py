"""A sweep as it goes, for others than the terminal: metrics for a file or a server, and a page."""
