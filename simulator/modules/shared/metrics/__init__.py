"""Databases of metrics, which store rows as points."""
