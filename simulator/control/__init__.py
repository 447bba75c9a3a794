"""The collector: coordinates the workers and prepares, settles and verifies the tables."""
