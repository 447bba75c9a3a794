"""The highest rate of inserts at which a target keeps what is asked of it."""
