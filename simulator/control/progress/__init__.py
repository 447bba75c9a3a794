"""The progress of a run: phases, ramps, rates, events for the command line."""
