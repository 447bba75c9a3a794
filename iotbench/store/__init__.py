"""The folder of results: names, list, tags, export."""
