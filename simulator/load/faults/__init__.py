"""Faults that a worker causes or survives: its network, its process, outages."""
