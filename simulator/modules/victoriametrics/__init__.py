"""VictoriaMetrics."""
