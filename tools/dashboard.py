"""The dashboard for Grafana: a panel for each metric of a running sweep."""

import json
from typing import Any

from iotbench.output.live.samples import FAMILIES
from iotbench.store.openmetrics import PREFIX

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_ALL = f'{{__name__=~"{PREFIX}_.+"}}'
_OF_TARGET = f'{{__name__=~"{PREFIX}_.+", target=~"$target"}}'
_CHOSEN = '{target=~"$target", sweep=~"$sweep"}'
_LEGEND = "{{target}} {{sweep}}, run {{run}}, {{workers}} workers, {{phase}} {{query}}"
_STEP = "5s"
"""Shortest step; samples of long phases are that far apart."""
_HEIGHT, _WIDTH, _COLUMNS = 8, 12, 2
_LEFT = "sweep_left_seconds"


def dashboard() -> str:
    """Return the dashboard as JSON; current rates and latencies precede counters."""
    names = sorted(FAMILIES, key=lambda name: FAMILIES[name].type == "counter")
    content = {
        "uid": PREFIX,
        "title": "iotbench: running sweeps",
        "tags": [PREFIX],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": _STEP,
        "time": {"from": "now-30m", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "label": "Data source", "type": "datasource",
                 "query": "prometheus"},
                _variable("target", "Target", _ALL, sort=1),
                _variable("sweep", "Sweep", _OF_TARGET, sort=2),
            ]
        },
        "panels": [_panel(number, name) for number, name in enumerate(names)],
    }  # fmt: skip
    return json.dumps(content, indent=1) + "\n"


def _variable(name: str, label: str, series: str, *, sort: int) -> dict[str, Any]:
    """Return a variable with the values of a label; sort 1 is ascending, 2 is descending."""
    query = f"label_values({series}, {name})"
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": _SOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        "refresh": 2,  # when the time range changes
        "sort": sort,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _panel(number: int, name: str) -> dict[str, Any]:
    family = FAMILIES[name]
    metric = f"{PREFIX}_{name}{'_total' if family.type == 'counter' else ''}"
    over_time = "avg_over_time" if name.endswith("_per_second") else "max_over_time"
    words = name.removesuffix("_seconds").replace("_", " ")
    return {
        "id": number + 1,
        "type": "stat" if name == _LEFT else "timeseries",
        "title": words[0].upper() + words[1:] if words[0] != "p" else words,
        "description": family.meaning,
        "datasource": _SOURCE,
        "gridPos": {
            "h": _HEIGHT,
            "w": _WIDTH,
            "x": number % _COLUMNS * _WIDTH,
            "y": number // _COLUMNS * _HEIGHT,
        },
        "fieldConfig": {
            "defaults": {"unit": "s" if name.endswith("_seconds") else "short", "min": 0},
            "overrides": [],
        },
        "targets": [
            {
                "refId": "A",
                "datasource": _SOURCE,
                "expr": f"{over_time}({metric}{_CHOSEN}[$__interval])",
                "legendFormat": _LEGEND,
                "interval": _STEP,
                "range": True,
            }
        ],
    }
