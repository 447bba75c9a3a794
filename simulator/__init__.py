"""What runs beside the database: data, encoders, modules, measuring and verifying."""

__version__ = "0.1.0"
