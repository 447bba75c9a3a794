"""InfluxQL, and its answers in chunks."""
