"""The worker: draws, encodes and sends rows, or asks queries, and measures."""
