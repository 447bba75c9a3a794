"""Completion in shells, and help: answered in a tenth of a second, without the commands."""
