"""The highest rate of inserts at which a target meets its requirements."""
