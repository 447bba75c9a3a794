"""The commands, one per file.

A command checks its input, calls other rooms and prints the outcome.
"""
