"""Tables of runs as files, made from numbers: the output of `dumbbell site` without long runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell.base.conventions import CONVENTIONS
from dumbbell.present.serve.application import require_pages
from dumbbell.present.serve.columns import encode
from dumbbell.present.serve.runs_table import critical_values
from dumbbell.present.serve.static import as_script

LOOKS = {
    "cubic": ("#0072b2", "o", []),
    "bbr": ("#d55e00", "s", [6, 3]),
    "copa": ("#009e73", "^", [2, 2]),
    "vegas": ("#cc79a7", "D", [8, 3, 2, 3]),
    "reno": ("#000000", "v", []),
}
METRICS = [
    ("goodput_mbps", "goodput", "Mbit/s", "more", "corrected", 1.0, 2, True),
    ("owd_p95_ms", "p95 one-way delay", "ms", "less", "corrected", 1.0, 1, True),
    ("packet_loss_rate", "loss", "%", "less", "corrected", 100.0, 2, True),
    ("throughput_mbps", "throughput", "Mbit/s", "more", "pantheon", 1.0, 2, True),
    ("delay_p95_ms", "p95 one-way delay", "ms", "less", "pantheon", 1.0, 1, True),
    ("loss_rate", "loss", "%", "less", "pantheon", 100.0, 2, True),
    ("utilization", "utilisation", "%", "more", "", 100.0, 1, False),
]
TEXTS = ("directory", "experiment", "path", "scheme", "status", "backend", "reason")


def field(name: str, is_text: bool) -> dict[str, Any]:
    """Return the description of a column; a column that is neither a text nor a known metric is an axis."""
    for metric, title, unit, better, convention, factor, digits, main in METRICS:
        if name == metric:
            fields = {
                "name": name,
                "title": title,
                "kind": "number",
                "unit": unit,
                "better": better,
                "group": "network",
            }
            return fields | {"convention": convention, "factor": factor, "digits": digits, "main": main}
    if name in TEXTS:
        return {"name": name, "title": name, "kind": "text", "group": "run"}
    if name in ("run", "seed", "started_at"):
        return {"name": name, "title": {"started_at": "started"}.get(name, name), "kind": "number", "group": "run"}
    if name.startswith("share:"):
        title = f"share of {name.removeprefix('share:')}"
        percent = {"unit": "%", "factor": 100.0, "digits": 1}
        return {"name": name, "title": title, "kind": "number", "better": "neutral", "group": "network", **percent}
    return {"name": name, "title": name, "kind": "text" if is_text else "number", "group": "axis"}


def write_pages(
    out: Path, columns: Mapping[str, Sequence[Any] | np.ndarray], directories: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write the pages with `data/runs.json` and the columns of this table."""
    shutil.copytree(require_pages(), out, dirs_exist_ok=True)
    (out / "data" / "columns").mkdir(parents=True, exist_ok=True)
    ids = list(dict.fromkeys(columns["directory"])) if len(columns["directory"]) < 1000 else ["d1"]
    by_identity = {directory["id"]: directory for directory in directories}
    blank = {"experiment": "made", "version": "1.0", "date": "2026-11-01T00:00:00Z", "running": False}
    facts = {
        "kind": "files",
        "is_benchmark": False,
        "version": "1.0",
        "rows": len(columns["scheme"]),
        "directories": [
            by_identity.get(identity) or {"id": identity, "label": f"results-{identity}", **blank} for identity in ids
        ],
        "fields": [field(name, isinstance(values[0], str)) for name, values in columns.items()],
        "schemes": {
            name: {"title": name, "color": color, "marker": marker, "dashes": dashes, "family": "other"}
            for name, (color, marker, dashes) in LOOKS.items()
        },
        "conventions": {
            convention.name: {"title": convention.label, "rules": convention.sentence(), "metrics": convention.keys}
            for convention in CONVENTIONS.values()
        },
        "critical_values": critical_values(),
    }
    (out / "site.html").replace(out / "index.html")
    (out / "data" / "runs.json.js").write_text(as_script(json.dumps(facts).encode()))
    (out / "data" / "findings.json.js").write_text(as_script(b"{}"))
    for name, values in columns.items():
        place = out / "data" / "columns" / f"{name}.bin.js"
        array = values if isinstance(values[0], str) else np.asarray(values, dtype=np.float64)
        place.write_text(as_script(encode({}, {"values": array})))
    return out


def make_columns(rows: int, seed: int = 1) -> dict[str, Sequence[Any] | np.ndarray]:
    """Return a table of `rows` runs of five schemes on forty paths; every hundredth failed, some have no delay."""
    draw = np.random.default_rng(seed)
    schemes, paths = list(LOOKS), [f"path-{number}" for number in range(1, 41)]
    scheme, path = draw.integers(0, len(schemes), rows), draw.integers(0, len(paths), rows)
    is_failed = draw.random(rows) < 0.01
    goodput = np.where(is_failed, np.nan, draw.normal(50, 10, rows) + 5 * scheme)
    delay = np.where(is_failed | (draw.random(rows) < 0.02), np.nan, draw.gamma(4, 10, rows) + path)
    loss = np.where(is_failed, np.nan, draw.random(rows) ** 4)
    return {
        "directory": ["d1"] * rows,
        "experiment": ["made"] * rows,
        "path": [paths[number] for number in path],
        "scheme": [schemes[number] for number in scheme],
        "run": np.arange(1, rows + 1),
        "seed": draw.integers(0, 2**32, rows),
        "status": ["failed" if has_failed else "done" for has_failed in is_failed],
        "reason": ["the receiver never answered" if has_failed else "" for has_failed in is_failed],
        "backend": ["sim"] * rows,
        "started_at": 1.79e9 - 60.0 * np.arange(rows),
        "goodput_mbps": goodput,
        "owd_p95_ms": delay,
        "packet_loss_rate": loss,
        "throughput_mbps": goodput * 1.03,
        "delay_p95_ms": delay * 1.1,
        "loss_rate": loss,
        "utilization": np.clip(goodput / 100, 0, 1),
    }
