"""The Kubernetes runner: release, pods, diagnosis of failures."""
