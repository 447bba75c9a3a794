"""The truth about a dataset, and its comparison with stored rows and answers."""
