"""OpenTSDB."""
