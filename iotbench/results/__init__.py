"""The result of a sweep: its file, the numbers of its runs, and how answers agree."""
