"""Shows results as an HTML page: pictures, each with a table."""
