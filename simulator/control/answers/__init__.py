"""The answers of a run, judged against their truth."""
