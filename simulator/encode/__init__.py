"""Encoders: a batch's columns -> what one database takes. Pure functions, CPU only."""
