"""Plans the runs of a sweep and the rows of each worker from options. Pure."""
