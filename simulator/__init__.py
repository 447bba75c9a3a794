"""The programs that run next to the database: data, encoders, modules, measuring, verification."""

__version__ = "0.1.0"
