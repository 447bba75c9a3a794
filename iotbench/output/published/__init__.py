"""Bundles: results, with everything that others need to check and repeat them."""
