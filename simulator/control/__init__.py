"""The collector: coordinates the workers and prepares, compacts and verifies the tables."""
