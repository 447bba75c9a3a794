"""Configuration and options: text is parsed into checked values."""
