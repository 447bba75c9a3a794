"""Work of the client for a database: partial answers, drivers, contents of payloads."""
