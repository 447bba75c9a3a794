"""User input: YAML, quantities, parameters of workloads; descriptions of invalid values."""
