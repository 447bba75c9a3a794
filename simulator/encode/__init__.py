"""Encoders: a block's columns -> what one database takes. Pure functions, CPU only."""
