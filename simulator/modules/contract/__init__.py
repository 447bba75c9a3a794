"""The contract between the benchmark and a database; `base` is its centre."""
