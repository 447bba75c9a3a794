"""PostgreSQL and its relatives."""
