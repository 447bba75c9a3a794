"""Parts that several measurements share: options, plans of runs, warnings. Pure."""
