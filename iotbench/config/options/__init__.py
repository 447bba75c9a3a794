"""The options that commands share, and what they choose."""
