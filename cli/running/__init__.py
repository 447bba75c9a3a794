"""From checked options to a sweep that is carried out, and its end."""
