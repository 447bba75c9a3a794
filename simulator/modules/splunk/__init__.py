"""Splunk."""
