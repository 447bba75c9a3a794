"""Workload `dashboard`: a fleet of hosts in clusters, and the panels of a dashboard."""
