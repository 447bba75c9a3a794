"""Code that databases of metrics share: rows as points."""
