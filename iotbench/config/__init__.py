"""Configuration and options: text becomes checked values."""
