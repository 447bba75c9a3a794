"""Figures of results: one typed summary for tables, pages, comparisons and exports."""
