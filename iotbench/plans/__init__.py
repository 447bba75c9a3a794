"""Plans in YAML: their items in order, searches, and what is measured already."""
