"""The client's part of queries and inserts: partial answers, drivers, contents of payloads."""
