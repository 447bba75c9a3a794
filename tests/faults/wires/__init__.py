"""Protocols of databases, as far as a liar must understand them."""
