"""Output of results: the terminal, pages, live metrics, published bundles."""
