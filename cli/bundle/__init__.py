"""A bundle: a folder with results, and all that others need to check and repeat them."""
