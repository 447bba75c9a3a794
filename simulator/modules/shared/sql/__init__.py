"""SQL: tables, queries, changes and hashes in any dialect."""
