"""Options that several commands share, and the choice of a target."""
