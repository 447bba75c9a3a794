"""Stand-ins for servers that no package registry has."""
