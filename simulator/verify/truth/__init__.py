"""The truth: answers and statistics computed from the rows themselves."""
