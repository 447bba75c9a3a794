"""What people write: YAML, quantities, parameters of workloads; what is wrong with a value."""
