"""The site of a published folder: databases side by side, a page for each, and their pictures."""
