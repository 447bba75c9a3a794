"""Workload `homes`: telemetry of smart homes."""
