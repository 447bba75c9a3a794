"""From a result to what a person reads: progress, tables, warnings."""
