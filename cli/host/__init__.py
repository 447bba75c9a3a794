"""The machine at hand: signals, processes, temporary folders."""
