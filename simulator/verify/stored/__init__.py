"""The stored rows, compared with the dataset."""
