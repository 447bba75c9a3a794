"""What several databases share: SQL, HTTP, TLS, partial answers."""
