"""What databases of metrics have in common: rows as points."""
