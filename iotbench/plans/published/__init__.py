"""The published benchmarks: plans, figures and claims."""
