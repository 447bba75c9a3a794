"""Results as one HTML page: pictures, and a table behind each."""
