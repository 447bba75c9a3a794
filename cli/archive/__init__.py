"""A folder of result files: finding one by its name."""
