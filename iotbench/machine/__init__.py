"""This machine: processors, memory, signals, processes, temporary folders."""
