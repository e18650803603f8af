"""Tables of runs as files, made from numbers: what `dumbbell site` writes, without runs of many hours before it."""

from __future__ import annotations

import functools
import http.server
import json
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

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
TEXTS = ("directory", "experiment", "path", "scheme", "status", "backend", "reason", "axes")


def columns_bytes(name: str, values: Sequence[Any] | np.ndarray) -> bytes:
    """One column as the front end reads it: texts as codes with names, numbers in double precision."""
    if len(values) and isinstance(values[0], str):
        names, codes = np.unique(np.array(values, dtype=object).astype(str), return_inverse=True)
        column: dict[str, Any] = {"name": name, "type": "u32", "names": [str(each) for each in names]}
        data = codes.astype("<u4").tobytes()
    else:
        column = {"name": name, "type": "f64"}
        data = np.asarray(values, dtype="<f8").tobytes()
    header = json.dumps({"meta": {}, "columns": [{**column, "offset": 0, "length": len(values)}]}).encode()
    header += b" " * (-(4 + len(header)) % 8)
    return struct.pack("<I", len(header)) + header + data + b"\0" * (-len(data) % 8)


def field(name: str) -> dict[str, Any]:
    """How a column is described; what is neither a text nor a known metric is an axis."""
    for metric, title, unit, better, convention, factor, digits, main in METRICS:
        if name == metric:
            found = {"name": name, "title": title, "kind": "number", "unit": unit, "better": better, "group": "network"}
            return found | {"convention": convention, "factor": factor, "digits": digits, "main": main}
    if name in TEXTS:
        return {"name": name, "title": name, "kind": "text", "group": "run"}
    if name in ("run", "seed", "started_at"):
        return {"name": name, "title": {"started_at": "started"}.get(name, name), "kind": "number", "group": "run"}
    if name.startswith("share:"):
        title = f"share of {name.removeprefix('share:')}"
        shown = {"unit": "%", "factor": 100.0, "digits": 1}
        return {"name": name, "title": title, "kind": "number", "better": "neutral", "group": "network", **shown}
    return {"name": name, "title": name, "kind": "number", "group": "axis"}


def write_table(
    out: Path, columns: Mapping[str, Sequence[Any] | np.ndarray], directories: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write `data/runs.json` and the columns below `out`."""
    (out / "data" / "columns").mkdir(parents=True, exist_ok=True)
    ids = list(dict.fromkeys(columns["directory"])) if len(columns["directory"]) < 1000 else ["d1"]
    known = {each["id"]: each for each in directories}
    blank = {"experiment": "made", "version": "1.0", "date": "2026-11-01T00:00:00Z", "running": False}
    facts = {
        "kind": "files",
        "version": "1.0",
        "rows": len(columns["scheme"]),
        "directories": [known.get(each) or {"id": each, "label": f"results-{each}", **blank} for each in ids],
        "fields": [field(name) for name in columns],
        "schemes": {
            name: {"title": name, "color": color, "marker": marker, "dashes": dashes, "family": "other"}
            for name, (color, marker, dashes) in LOOKS.items()
        },
        "plane": {"x": "goodput_mbps", "y": "owd_p95_ms"},
    }
    (out / "data" / "runs.json").write_text(json.dumps(facts))
    for name, values in columns.items():
        place = out / "data" / "columns" / f"{quote(name, safe='')}.bin"
        place.write_bytes(columns_bytes(name, values))
    return out


def many(rows: int, seed: int = 1) -> dict[str, Sequence[Any] | np.ndarray]:
    """A table of so many runs of five schemes on forty paths; every hundredth failed, some have no delay."""
    draw = np.random.default_rng(seed)
    schemes, paths = list(LOOKS), [f"path-{number}" for number in range(1, 41)]
    scheme, path = draw.integers(0, len(schemes), rows), draw.integers(0, len(paths), rows)
    failed = draw.random(rows) < 0.01
    goodput = np.where(failed, np.nan, draw.normal(50, 10, rows) + 5 * scheme)
    delay = np.where(failed | (draw.random(rows) < 0.02), np.nan, draw.gamma(4, 10, rows) + path)
    loss = np.where(failed, np.nan, draw.random(rows) ** 4)
    return {
        "directory": ["d1"] * rows,
        "experiment": ["made"] * rows,
        "path": [paths[each] for each in path],
        "scheme": [schemes[each] for each in scheme],
        "run": np.arange(1, rows + 1),
        "seed": draw.integers(0, 2**32, rows),
        "status": ["failed" if each else "done" for each in failed],
        "reason": ["the receiver never answered" if each else "" for each in failed],
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


def of_results(results: Any, identity: str = "d1") -> dict[str, list[Any]]:  # noqa: ANN401 (dumbbell.Results)
    """The runs of results as columns, with the metrics of all flows together."""
    names = [name for name, *_ in METRICS]
    columns: dict[str, list[Any]] = {name: [] for name in (*TEXTS[:-1], "run", "seed", "started_at", *names)}
    for run in results.runs:
        found = run.statistics
        texts = {"directory": identity, "experiment": "e", "reason": found["reason"] or ""}
        for name in TEXTS[:-1]:
            columns[name].append(texts.get(name, found.get(name)))
        for name in ("run", "seed"):
            columns[name].append(float("nan") if found[name] is None else float(found[name]))
        columns["started_at"].append(1.79e9)
        for name in names:
            value = found["network"].get(name)
            columns[name].append(float("nan") if value is None else float(value))
    return columns


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class _Files(http.server.SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def files_served(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port; the address ends with a slash."""
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
