"""CrateDB, over HTTP and over PostgreSQL's protocol."""
