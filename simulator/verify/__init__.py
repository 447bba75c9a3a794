"""The truth about a dataset, and whether what is stored agrees with it."""
