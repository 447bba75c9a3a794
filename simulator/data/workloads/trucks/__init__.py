"""Workload `trucks`: what a fleet of trucks sends."""
