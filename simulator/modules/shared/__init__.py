"""Code that several databases share: SQL, HTTP, TLS, partial answers."""
