"""Results judged: against each other, with intervals over runs, and against thresholds."""
