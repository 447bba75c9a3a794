"""Queries: asked one by one or in turn, their answers kept."""
