"""Access to a Kubernetes cluster: its API, helm, and the diagnosis of failures."""
