"""Bundles of results, with everything that other people need to check and repeat the results."""
