"""Shell completion and help, which take a tenth of a second since they import no commands."""
