"""The programs that run next to the database: data, encoders, modules, measuring, verifying."""

__version__ = "0.1.0"
