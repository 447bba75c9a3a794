"""TimescaleDB, a relative of `postgres`."""
