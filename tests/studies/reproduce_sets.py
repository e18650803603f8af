"""Measured sets whose truth is known: runs of our simulator over mahimahi's links, written as Pantheon writes them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme

OVERHEAD_BYTES = 36
LATE = {"kind": "jitter", "distribution": "uniform", "mean_ms": 0.75, "deviation_ms": 0.55}
"""How late a host was that ran mahimahi, in each direction."""
SLOW = {"kind": "link", "rate_mbps": 8.0}
"""A host that carries two thirds of what the link offers."""


def mahimahi_path(
    delay_ms: float = 20.0, queue: Mapping[str, Any] | None = None, after: Sequence[Mapping[str, Any]] = ()
) -> PathModel:
    """`mm-delay DELAY mm-link 12mbps 12mbps`, and what the host adds `after` either link."""
    link: dict[str, Any] = {"kind": "trace", "mode": "mahimahi", "times_ms": [1.0]}
    delay = [{"kind": "delay", "delay_ms": delay_ms}] if delay_ms else []
    late = [dict(each) for each in after]
    data = [link | ({"queue": dict(queue)} if queue else {}), *delay, *late]
    return PathModel("truth", "truth", overhead_bytes=OVERHEAD_BYTES, data=data, ack=[*delay, link, *late])


def write_set(
    folder: Path,
    schemes: Mapping[str, Scheme | str],
    path: PathModel,
    delay_ms: float = 20.0,
    packets: int | None = None,
    runs: int = 1,
    duration_s: float = 20.0,
    seed: int = 7,
    **more: Any,  # noqa: ANN401 (settings of the run)
) -> Path:
    """Write a data directory into `folder / "set"`; `schemes` are those that ran, by the key that lists them."""
    known = dumbbell.catalog.schemes()
    ran = {key: known.find(each) if isinstance(each, str) else each for key, each in schemes.items()}
    # what is called bbr there may be anything here: the files are renamed below
    own = {key: replace(each, name=f"ran-{key}", title=key) for key, each in ran.items()}
    dumbbell.run(
        schemes=list(own.values()),
        path=path,
        runs=runs,
        duration=duration_s,
        seed=seed,
        log="packets",
        convention="pantheon",
        out=folder / "truth",
        jobs=1,
        **more,
    )
    place = folder / "set"
    dumbbell.export_pantheon(folder / "truth", place)
    for file in sorted(place.glob("ran-*")):
        file.rename(place / file.name.removeprefix("ran-"))
    metadata = json.loads((place / "pantheon_metadata.json").read_text())
    del metadata["written_by"]
    metadata |= {"cc_schemes": sorted(schemes), "uplink_trace": "12mbps.trace", "downlink_trace": "12mbps.trace"}
    if delay_ms:
        metadata["prepend_mm_cmds"] = f"mm-delay {delay_ms:g}"
    if packets:
        metadata["extra_mm_link_args"] = f"--uplink-queue=droptail --uplink-queue-args=packets={packets}"
    (place / "pantheon_metadata.json").write_text(json.dumps(metadata))
    performance = json.loads((place / "pantheon_perf.json").read_text())
    renamed = {key.removeprefix("ran-"): value for key, value in performance.items()}
    (place / "pantheon_perf.json").write_text(json.dumps(renamed))
    return place
