"""ClickHouse: the server, and the engine embedded in a process."""
