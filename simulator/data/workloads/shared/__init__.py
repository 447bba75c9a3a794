"""Code that several workloads share: fleets and their members, windows of time."""
