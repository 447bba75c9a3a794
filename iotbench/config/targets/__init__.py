"""The targets of `config.yaml`: their options, the packages they need, their address."""
