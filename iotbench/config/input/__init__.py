"""User input: YAML, quantities, parameters of workloads, and messages about invalid values."""
