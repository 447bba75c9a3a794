"""Results and reproductions -> one HTML page with pictures, and a table behind each."""
