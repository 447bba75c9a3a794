"""The collector's work on the database: tables, marks, ownership, counts."""
