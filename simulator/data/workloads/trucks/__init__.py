"""Workload `trucks`: the messages of a fleet of trucks."""
