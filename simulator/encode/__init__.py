"""Encoders: a block's columns -> the bytes or objects of one database. Pure functions, CPU only."""
