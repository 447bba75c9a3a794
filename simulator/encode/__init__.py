"""Encoders: a block's columns become the bytes or objects of one database, by pure CPU work."""
