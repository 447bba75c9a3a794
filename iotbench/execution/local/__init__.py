"""The local runner: collector and workers as processes of this machine."""
