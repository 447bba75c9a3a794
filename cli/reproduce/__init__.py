"""The published benchmarks: their experiments as plans, their figures, and their claims."""
