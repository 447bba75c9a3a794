"""Plans in YAML: their items in order, searches, and earlier results."""
