"""Shell completion and help, which answer in a tenth of a second without importing commands."""
