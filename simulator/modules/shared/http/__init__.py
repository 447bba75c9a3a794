"""Databases reached by HTTP: the client, TLS, sessions."""
