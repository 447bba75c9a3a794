"""All data that crosses a process boundary: the run's specification, messages, verdicts."""
