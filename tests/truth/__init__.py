"""A reviewer of our own: figures against the account of a proxy, rows against a recomputation."""
