"""Execution of sweeps, from checked options to the end, on this machine or on Kubernetes."""
