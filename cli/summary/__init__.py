"""A result -> one typed summary, which tables, pages, comparisons and exports show."""
