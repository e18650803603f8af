"""Comparison of video calls: the built-in GCC and SCReAM and those inside Chromium, figure by figure.

Usage: python -m validation.webrtc [--write docs/evidence/webrtc.md] [--repetitions 2] [--keep DIR]. Everything runs
through `dumbbell run webrtc`; emulated runs take real time, 15 minutes with two repetitions of Chromium's. What is
finished stays in DIR (default `results/webrtc`), so that an interrupted call continues where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars

import dumbbell
from dumbbell.present.tables import Table, markdown
from validation.agreement import Notes, demand, machine, run_command
from validation.webrtc_figures import ABSENT, QUEUED_MS, SCENARIOS, Call, Figure, Times, finite_values, middle
from validation.webrtc_reasons import REASONS

PAIRS = {  # ours: Chromium's
    "gcc": "chromium-gcc",
    "scream": "chromium-scream",
    "gcc+scream": "chromium-gcc+chromium-scream",
}
LIKE_CHROMIUM = {  # ours: the same with what is known of Chromium's, simulated only
    "scream": "scream-libwebrtc",
    "gcc+scream": "gcc+scream-libwebrtc",
}
TITLES = {"gcc": "GCC", "scream": "SCReAM", "gcc+scream": "GCC first, SCReAM second"}
SEEDS = 5

SECOND_FLOW_S = 0.5
SEND, DROP, DELIVER = 0, 3, 5  # events of the packet log

WITHIN = "within"
UNEXPLAINED = "**not explained**"


@dataclass
class Part:
    """Runs of one invocation: good ones by path and scheme, and remarks on all of them."""

    calls: dict[tuple[str, str], list[list[Call]]] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    load: dict[str, dict[str, float]] = field(default_factory=dict)
    """Load of the browsers, by directory of the run."""
    environment: dict[str, Any] = field(default_factory=dict)


def read_call(folder: Path, flow: int, stats: dict[str, Any], warmup_s: float) -> Call:
    """Return a flow of a run from its packet log and from its own or the browser's statistics."""
    log = polars.read_parquet(folder / "packets.parquet").filter(polars.col("flow") == flow)
    events = {code: log.filter(polars.col("event") == code) for code in (SEND, DROP, DELIVER)}
    times = {code: rows["time_ns"].to_numpy() / 1e9 for code, rows in events.items()}
    media = stats.get("media")  # of our own encoders only
    if media is None:
        freezes, frozen_s = (since(folder, name, flow, warmup_s) for name in ("freezes", "frozen_time"))
    else:
        freezes, frozen_s = float(media["stalls"]), float(media["stall_time_s"])
    return Call(
        send_times=times[SEND],
        sent_bytes=events[SEND]["size_bytes"].to_numpy().astype(float),
        arrival_times=times[DELIVER],
        arrived_bytes=events[DELIVER]["size_bytes"].to_numpy().astype(float),
        delay=events[DELIVER]["one_way_delay_ns"].to_numpy() / 1e6,
        drop_times=times[DROP],
        freezes=freezes,
        frozen_s=frozen_s,
    )


def since(folder: Path, name: str, flow: int, instant: float) -> float:
    """Return the growth of a count of the browser since an instant."""
    times, values = samples_of(folder, name, flow)
    if not len(values):
        return ABSENT
    before = values[times <= instant]
    return float(values[-1] - (before[-1] if len(before) else 0.0))


def samples_of(folder: Path, name: str, flow: int) -> tuple[Times, Times]:
    """Return a field's times and values; both are empty if the flow lacks the field."""
    of_flow = (polars.col("flow") == flow) & (polars.col("field") == name)
    rows = polars.read_parquet(folder / "flows.parquet").filter(of_flow)
    return rows["time_ns"].to_numpy() / 1e9, rows["value"].to_numpy()


def browser_load(folder: Path, flows: int) -> dict[str, float]:
    """Return the largest load of any of the run's browsers, and the lowest rate of frames."""
    fields = {"sender_cpu": max, "receiver_cpu": max, "encode_time": max, "encoded_frame_rate": min}
    loads = {}
    for name, worst in fields.items():
        means = [float(values.mean()) for flow in range(flows) if len(values := samples_of(folder, name, flow + 1)[1])]
        if means:
            loads[name] = worst(means)
    return loads


def read_part(directory: Path) -> Part:
    """Return the runs of a results directory."""
    results = dumbbell.open(directory)
    part = Part(runs=[run.statistics for run in results.runs], environment=results.environment)
    for run in part.runs:
        if run["status"] != "done":
            continue
        folder = directory / run["directory"]
        flows = enumerate(run["flows"], 1)
        calls = [read_call(folder, flow, stats, results.experiment.warmup_s) for flow, stats in flows]
        key = (run["path"], run["scheme"])
        part.calls.setdefault(key, []).append(calls)
        part.load[run["directory"]] = browser_load(folder, len(calls))
    return part


Runs = list[list[Call]]
"""Runs of one cell, each with its calls."""


def row(figure: Figure, own_runs: Runs, emu: Runs, real: Runs, judge: str) -> list[str]:
    """Return a line of a table; `judge` is the verdict on values that differ."""
    simulated_values, emulated_values, measured_values = (
        [figure.value(calls) for calls in runs] for runs in (own_runs, emu, real)
    )
    cells = [
        figure.name,
        range_text(figure, simulated_values),
        values(figure, emulated_values),
        values(figure, measured_values),
    ]
    model_values = finite_values(simulated_values + emulated_values)
    if not model_values or not finite_values(measured_values):
        return [*cells, "-", "-"]
    verdict = WITHIN if figure.agrees(model_values, measured_values) else judge
    return [*cells, figure.difference(model_values, measured_values), verdict]


def range_text(figure: Figure, values_found: list[float]) -> str:
    """Return median and range of the values, as text."""
    good = finite_values(values_found)
    if not good:
        return "-"
    least, highest = figure.text(min(good)), figure.text(max(good))
    return figure.text(middle(good)) + (f" ({least} to {highest})" if least != highest else "")


def values(figure: Figure, values_found: list[float]) -> str:
    """Return all values, as text."""
    return ", ".join(map(figure.text, values_found)) or "-"


def table(path: str, scheme: str, sim: Part, emu: Part, real: Part, notes: Notes) -> list[list[str]]:
    """Return the rows of one pair of schemes on one path."""
    runs = sim.calls.get((path, scheme), []), emu.calls.get((path, scheme), [])
    measured_runs = real.calls.get((path, PAIRS[scheme]), [])
    alike = sim.calls.get((path, LIKE_CHROMIUM.get(scheme, "")), [])
    rows = []
    for figure in SCENARIOS[path]:
        cells = row(figure, *runs, measured_runs, UNEXPLAINED)
        if cells[-1] == UNEXPLAINED and (reason := REASONS.get((path, scheme, figure.name))):
            cells[-1] = notes.mark(reason)
        if scheme in LIKE_CHROMIUM:
            cells.insert(4, range_text(figure, [figure.value(calls) for calls in alike]))
        rows.append(cells)
    return rows


def sections(titles: dict[str, str], sim: Part, emu: Part, real: Part) -> tuple[list[str], list[str]]:
    """Return every scenario with its tables and reasons, and all verdicts."""
    lines, verdicts = list[str](), list[str]()
    for path, title in titles.items():
        notes = Notes()
        lines += [f"## {title}", ""]
        for scheme in PAIRS:
            if ("+" in scheme) and path != "two-calls":
                continue
            rows = table(path, scheme, sim, emu, real, notes)
            verdicts += [line[-1] for line in rows]
            names = ["", f"simulated ({SEEDS} seeds)", "real packets", "Chromium", "difference", "verdict"]
            if scheme in LIKE_CHROMIUM:
                names.insert(4, "as libwebrtc")
            align = f"l{'r' * (len(names) - 2)}l"
            lines += [f"### {TITLES[scheme]}", "", markdown.render(Table.of(names, rows, align)), ""]
        lines += [*notes.lines(), *([""] if notes.texts else [])]
    return lines, verdicts


def summary(verdicts: list[str]) -> str:
    """Return the numbers of figures by verdict."""
    judged_verdicts = [verdict for verdict in verdicts if verdict != "-"]
    reasons = sum(verdict.startswith("[") for verdict in judged_verdicts)
    within = judged_verdicts.count(WITHIN)
    return (
        f"Of {len(judged_verdicts)} figures {within} are within bounds, {reasons} differ for reasons that "
        f"stand below the tables (some are part of it only), {judged_verdicts.count(UNEXPLAINED)} are not explained."
    )


def validity(parts: list[Part]) -> list[str]:
    """Return the own verdict and the lateness of every emulated run."""
    notes, rows = Notes(), list[list[str]]()
    for part in parts:
        for run in part.runs:
            late = run.get("emulation", {}).get("lateness_us", {}).get("p99")
            load = part.load.get(run["directory"], {})
            figures = ("sender_cpu", "receiver_cpu", "encode_time", "encoded_frame_rate")
            rows.append(
                [
                    f"{run['scheme']}, {run['path']}, {run['run']}",
                    run["status"] + (f" {notes.mark(run['reason'])}" if run["reason"] else ""),
                    str(run.get("attempts", 1)),
                    "-" if late is None else f"{late / 1e3:.2f}",
                    *(f"{load[name]:.{1 if load[name] > 1 else 2}f}" if name in load else "-" for name in figures),
                ]
            )
    titles = ["run", "status", "attempts", "late p99 ms", "sender", "receiver", "encoding ms", "frames/s"]
    return [markdown.render(Table.of(titles, rows, "llrrrrrr")), "", *notes.lines()]


PAGE = """# Video calls: ours and Chromium's

Written by `{command}`. The same controllers twice: our
[`gcc`](../schemes/webrtc.md) and [`scream`](../schemes/scream.md) with an encoder that is a model, and
[`chromium-gcc` and `chromium-scream`](../schemes/chromium.md) with a real one, over the same four paths
(`dumbbell show webrtc`). All send 30 frames/s and at most 10 Mbit/s, from 0.3 Mbit/s on.

{facts}

{load}

{summary}

- Rates are of IP packets; delays are one-way, 20 ms of them propagation. Averages cover 30 s from the first packet of
  media on; what the path does counts from the run's start.
- "simulated": the median of {seeds} seeds and their range. "real packets": the same code and the same model of an
  encoder in emulated runs. "as libwebrtc": simulated with what is known of Chromium's SCReAM (the scheme
  `scream-libwebrtc` of the experiment); not judged. "difference": the median of the first two less Chromium's.
- Verdict: `within` if our values without the lowest and the highest are no further from Chromium's than 10 % (rates),
  20 % (delays) or 25 % (durations and counts) of Chromium's median, or 0.1 Mbit/s, 5 ms, 0.5 s, 10 to 30 packets, 0.2 %
  of loss, 0.05 of Jain's index, one freeze. `[n]`: for the reason below the scenario's tables.
- Freezes are intervals between pictures of at least three usual ones, and 150 ms more than one, without the first 2 s.
  Chromium counts what it shows, behind a jitter buffer; ours what could be decoded.
- The queue is gone after the last packet that took more than {queued:g} ms, if a second without such packets follows.

{sections}
## Validity

Each emulated run's own verdict. `sender` and `receiver` are processors that the browsers use, `encoding` is the time
that a frame takes: means over the run, of the busier call where there are two.

{validity}
"""


def page(command: str, facts: str, load: str, titles: dict[str, str], sim: Part, emu: Part, real: Part) -> str:
    """Return the document."""
    lines, verdicts = sections(titles, sim, emu, real)
    text = PAGE.format(
        command=command,
        facts=facts,
        load=load,
        summary=summary(verdicts),
        seeds=SEEDS,
        queued=QUEUED_MS,
        sections="\n".join(lines),
        validity="\n".join(validity([real, emu])),
    )
    return text.rstrip("\n") + "\n"


def measure(keep: Path, repetitions: int) -> tuple[list[Part], list[tuple[float, float]]]:
    """Execute unfinished runs: built-in ones simulated and with real packets, Chromium's; also return the loads."""
    keep.mkdir(parents=True, exist_ok=True)
    parts, loads = [], []
    browser_schemes = list(PAIRS.values())
    for name, backend, labels, runs in (
        ("sim", "sim", [*PAIRS, *LIKE_CHROMIUM.values()], SEEDS),
        ("emu", "emu", list(PAIRS), 1),
        ("real", "emu", browser_schemes, repetitions),
    ):
        schemes = ",".join(label for label in labels if "+" not in label)
        usual = ["webrtc", "--backend", backend, "--schemes", schemes, "--runs", str(runs), "--resume"]
        pair = ["--path", "two-calls", "--flows", "2", "--interval", f"{SECOND_FLOW_S:g}"]
        pair += [word for label in labels if "+" in label for word in ("--mix", label)]
        for directory, more in ((keep / name, []), (keep / f"{name}-two", pair)):
            before = os.getloadavg()[0]
            demand(run_command([*usual, *more, "--out", str(directory)]))
            if backend == "emu":
                loads.append(note_load(directory / "load.json", before))
        parts.append(join_parts(read_part(keep / name), read_part(keep / f"{name}-two")))
    return parts, loads


def note_load(file: Path, before: float) -> tuple[float, float]:
    """Return the load before and after the runs; that of a directory's first call is kept."""
    if not file.exists():
        file.write_text(json.dumps([before, os.getloadavg()[0]]))
    first, last = json.loads(file.read_text())
    return float(first), float(last)


def join_parts(first: Part, other: Part) -> Part:
    """Return two parts as one."""
    return Part(first.calls | other.calls, first.runs + other.runs, first.load | other.load, first.environment)


def load_text(loads: list[tuple[float, float]]) -> str:
    """Return a sentence on the machine's load."""
    all_loads = [load for pair in loads for load in pair]
    return (
        f"Load average before and after the groups of emulated runs: {min(all_loads):.1f} to "
        f"{max(all_loads):.1f}. The path's\n"
        "threads have real-time priority, the browsers have not: see [validity](#validity)."
    )


def main() -> None:
    """Run everything and print or write the page."""
    parser = argparse.ArgumentParser(description="Our GCC and SCReAM beside Chromium's.")
    parser.add_argument("--write", type=Path, help="the page; default: print it")
    parser.add_argument("--repetitions", type=int, default=2, help="of Chromium's runs")
    parser.add_argument("--keep", type=Path, default=Path("results/webrtc"), help="where results are, and continued")
    options = parser.parse_args()
    try:
        (sim, emu, real), loads = measure(options.keep, options.repetitions)
    except dumbbell.Error as error:
        sys.exit(f"webrtc: {error}")
    plan = dumbbell.experiments().find("webrtc")
    titles = {path: plan.own_paths[path].title for path in SCENARIOS}
    command = f"python -m validation.webrtc --repetitions {options.repetitions} --write docs/evidence/webrtc.md"
    text = page(command, machine([real.environment]), load_text(loads), titles, sim, emu, real)
    if options.write:
        options.write.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
