"""Shell completion and help. Both take a tenth of a second, since they import no commands."""
