"""The commands, one file each; thin: they check the input, call the pieces and print."""
