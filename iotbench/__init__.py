"""The programs on the user's machine: commands, configuration, plans, runners, results, tables."""
