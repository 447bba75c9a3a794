"""HTTP and TLS: one connection, bytes in, status and bytes out."""
