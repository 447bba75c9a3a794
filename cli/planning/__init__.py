"""From options to the runs of a sweep and the rows of each worker. Pure."""
