"""What crosses a process boundary: the run's specification, messages, verdicts."""
