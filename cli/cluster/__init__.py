"""Talking to a Kubernetes cluster: its API, helm, and what they say when something is wrong."""
