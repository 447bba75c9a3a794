"""QuasarDB."""
