"""From a result and its summary to what a person reads: progress, tables, warnings."""
