"""Workload `devops`: telemetry of a fleet of hosts."""
