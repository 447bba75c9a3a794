"""The tests: unit, contract, integration, chart, e2e, faults; perf prints figures."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
