"""The result of a sweep: its file, the metrics of its runs, and the agreement of answers."""
