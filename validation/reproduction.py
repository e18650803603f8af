"""Accuracy of `dumbbell reproduce` on measured sets with known causes: the found and the false ones.

Usage: python -m validation.reproduction [--quick]. Runs of our own simulator over mahimahi's links are written as
Pantheon writes them: plain ones, and ones with a cause: small socket buffers, a late host, a host that does not carry
the rate, CUBIC by the name of BBR and Vegas. Writes its table into docs/how-to/reproduce.md. Takes about five minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dumbbell
import dumbbell_reproduce
from dumbbell import catalog
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.present.tables import Table, markdown
from dumbbell_reproduce.causes import BUFFER, CARRY, CUBIC, JITTER, SILENT
from dumbbell_reproduce.kernel_tcp import LINUX, as_on_linux
from dumbbell_reproduce.score import Row, surprise
from dumbbell_reproduce.viewpoint import LOSS
from scripts.blocks import replace_block

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "reproduce.md"
OVERHEAD_BYTES = 36
LATE = {"kind": "jitter", "distribution": "uniform", "mean_ms": 0.75, "deviation_ms": 0.55}
"""Lateness of a host that ran mahimahi, in each direction."""
SMALL_BUFFER = 2**21
"""Length of a sender's buffer, bytes: half of Linux's."""
ONE_A_MS = (1.0,)
TOLD = (BUFFER, JITTER, CUBIC, CARRY, SILENT)
"""Causes that are planted, or must not be found."""


def mahimahi_path(
    delay_ms: float = 20.0,
    queue: Mapping[str, Any] | None = None,
    after: Sequence[Mapping[str, Any]] = (),
    times_ms: Sequence[float] = ONE_A_MS,
) -> PathModel:
    """Return the path of `mm-delay DELAY mm-link TRACE TRACE`; the host adds the elements `after` to either link."""
    link: dict[str, Any] = {"kind": "trace", "mode": "mahimahi", "times_ms": list(times_ms)}
    delay = [{"kind": "delay", "delay_ms": delay_ms}] if delay_ms else []
    late = [dict(element) for element in after]
    data = [link | ({"queue": dict(queue)} if queue else {}), *delay, *late]
    return PathModel("truth", "truth", overhead_bytes=OVERHEAD_BYTES, data=data, ack=[*delay, link, *late])


def slow(rate_mbps: float) -> dict[str, Any]:
    """Return an element of a host that carries `rate_mbps` behind the link."""
    return {"kind": "link", "rate_mbps": rate_mbps}


def limit_scheme(scheme: str, most_bytes: int | None = None) -> Scheme:
    """Return a scheme of the kernel's TCP, with Linux's socket buffers, or with a sending buffer of another size."""
    linux_scheme = as_on_linux(catalog.schemes().find(scheme), LINUX, has_fq=False)
    memory = {} if most_bytes is None else {"tcp_wmem": [4096, 16384, most_bytes]}
    return replace(linux_scheme, transport=linux_scheme.transport | memory)


def write_set(
    folder: Path,
    schemes: Mapping[str, Scheme | str],
    path: PathModel,
    delay_ms: float = 20.0,
    packets: int | None = None,
    runs: int = 1,
    duration_s: float = 20.0,
    seed: int = 7,
    **more: object,
) -> Path:
    """Write a data directory into `folder / "set"`; `schemes` are those that ran, by the key that lists them.

    `delay_ms` and the `packets` of the queue are what the metadata say of the path; `more` are settings of the run.
    """
    catalog_schemes = catalog.schemes()
    ran = {key: catalog_schemes.find(scheme) if isinstance(scheme, str) else scheme for key, scheme in schemes.items()}
    # The scheme called bbr may be any scheme here: the files are renamed below.
    own_schemes = {key: replace(one_scheme, name=f"ran-{key}", title=key) for key, one_scheme in ran.items()}
    dumbbell.run(
        schemes=list(own_schemes.values()),
        path=path,
        runs=runs,
        duration=duration_s,
        seed=seed,
        log="packets",
        convention="pantheon",
        out=folder / "truth",
        jobs=1,
        **more,  # type: ignore[arg-type]
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
    renamed_values = {key.removeprefix("ran-"): value for key, value in performance.items()}
    (place / "pantheon_perf.json").write_text(json.dumps(renamed_values))
    return place


SCHEMES = ("cubic", "bbr", "vegas", "verus", "sprout", "vivace")
"""Keys of Pantheon."""
LINKS = ((1.0,),)
"""Times of the opportunities of each link, ms: 12 Mbit/s."""
DELAYS_MS = (0.0, 20.0, 100.0)
QUEUES = (None, 200)


@dataclass
class Count:
    """Numbers of runs with a cause, of runs that it changes, of runs for which it was found, and of false findings."""

    planted_causes: int = 0
    off: int = 0
    found_causes: int = 0
    alone: int = 0
    false: int = 0


@dataclass(frozen=True)
class PlantedCause:
    """A cause, the schemes that it is planted in, and its changes of schemes and path."""

    kind: str
    keys: tuple[str, ...]
    schemes: Mapping[str, Scheme | str] = field(default_factory=dict)
    late: bool = False
    carried_share: float | None = None
    """Part of the link's rate that the host carries."""


TCP = ("cubic", "bbr", "vegas")
PLANTED = (
    PlantedCause("", ()),
    PlantedCause(BUFFER, ("cubic",), {"cubic": limit_scheme("cubic", SMALL_BUFFER)}),
    PlantedCause(JITTER, SCHEMES, late=True),
    PlantedCause(CUBIC, ("bbr", "vegas"), {"bbr": limit_scheme("cubic"), "vegas": limit_scheme("cubic")}),
    PlantedCause(CARRY, SCHEMES, carried_share=0.6),
)


def reproduce_set(
    folder: Path, planted_cause: PlantedCause, link: Sequence[float], delay_ms: float, packets: int | None, runs: int
) -> list[Row]:
    """Return the rows of one set with a cause."""
    rate = 12.0 * len(link) / link[-1]
    after = (
        [LATE]
        if planted_cause.late
        else [slow(planted_cause.carried_share * rate)]
        if planted_cause.carried_share
        else []
    )
    queue = {"kind": "droptail", "packets": packets} if packets else None
    path = mahimahi_path(delay_ms, queue, after, link)
    keys = {"sprout": "sprout", "verus": "verus", "vivace": "vivace"} | {key: limit_scheme(key) for key in TCP}
    place = write_set(folder, keys | dict(planted_cause.schemes), path, delay_ms, packets, runs=1, duration_s=30.0)
    return list(dumbbell_reproduce.reproduce(place, folder / "out", runs=runs, jobs=1).rows)


def main() -> None:
    """Plant, reproduce, count, and write the table."""
    parser = argparse.ArgumentParser(description="Which causes `dumbbell reproduce` finds, and which it invents.")
    parser.add_argument("--quick", action="store_true", help="one path; the page stays as it is")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    counts = {kind: Count() for kind in TOLD}
    cells = [(link, delay, queue) for link in LINKS for delay in DELAYS_MS for queue in QUEUES]
    total, misses = 0, Counter[str]()
    for planted_cause in PLANTED:
        for link, delay_ms, packets in cells[3:4] if options.quick else cells:
            with tempfile.TemporaryDirectory() as folder:
                rows = reproduce_set(Path(folder), planted_cause, link, delay_ms, packets, options.runs)
            for row in rows:
                total += 1
                kinds = {cause.kind for cause in row.causes}
                is_planted = row.run.name in planted_cause.keys
                for kind in kinds & set(TOLD):
                    # A host that carries less is late, too.
                    if not (is_planted and kind == planted_cause.kind):
                        counts[kind].false += 1
                        misses[f"{kind} told of {row.run.name} ({planted_cause.kind or 'plain'})"] += 1
                if is_planted and planted_cause.kind:
                    count = counts[planted_cause.kind]
                    count.planted_causes += 1
                    off = surprise({**row.exact, LOSS: None}) > 1.0
                    count.off += off
                    count.found_causes += off and planted_cause.kind in kinds
                    count.alone += planted_cause.kind in kinds and not off
        print(f"{planted_cause.kind or 'plain'}: {counts}", file=sys.stderr)
    rows_of = [
        [kind, entry.planted_causes, entry.off, entry.found_causes, entry.alone, entry.false]
        for kind, entry in counts.items()
    ]
    head = [
        "cause",
        "planted in runs",
        "off by more than a tolerance",
        "found of these",
        "told of others of them",
        "false",
    ]
    text = markdown.render(Table.of(head, rows_of))
    print(text)
    for description, often in misses.most_common():
        print(f"{often} times: {description}")
    print(f"{total} runs")
    if not options.quick:
        replace_block(PAGE, "planted", f"{text}\n\n{total} runs in all, {len(cells)} paths.")


if __name__ == "__main__":
    main()
