"""The targets of `config.yaml`: their options, packages and addresses."""
