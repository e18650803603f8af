"""Comparison of the simulator with real packets, and of built-in controllers with real implementations.

Usage: python -m validation.agreement [--experiment agreement-more] [--write docs/evidence/agreement.md] [--quick]
[--keep DIR]. Everything runs through `dumbbell run`, in real time: about 40 minutes, with --quick about 14. What is
finished stays in DIR (default `results/EXPERIMENT`), so that an interrupted call continues where it was. Real
implementations are beside the schemes of the experiments in `WITH_REAL` only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

import dumbbell
from dumbbell.present.tables import Table, markdown

Runs = dict[tuple[str, str], list[dict[str, Any]]]
"""Runs as in `show --json` by path and scheme."""

PAIRS = {  # real implementation: ours
    "kernel-cubic": "cubic-linux",
    "kernel-bbr": "bbr",
    "bpf-vegas": "vegas",
    "bpf-ledbat": "ledbat",
    "bpf-copa-delay": "copa-delay",
    "libutp": "libutp-ledbat",
    "quic-cubic": "cubic",
}

WITH_REAL = {  # experiments whose schemes stand beside real implementations, and which
    "agreement": PAIRS,
    "agreement-steps": PAIRS,
    "agreement-reordering": {
        "kernel-reno": "reno",
        "kernel-cubic": "cubic-linux",
        "kernel-bbr": "bbr",
        "quic-reno": "reno-quic",
        "quic-cubic": "cubic-quic",
    },
}

# Means of the exponential distributions of random lateness, ms, in each direction, in the simulated repetitions that
# show the influence of timing. Their 99th percentiles, 0.05 to 1.4 ms, are those of an idle and a busy machine.
LATE_MS = (0.01, 0.03, 0.1, 0.3)
REPETITIONS = 20  # for each of them; the first has the seed of the other runs

ACKS_TOGETHER = (
    "Our sending end takes all ACKs that wait before anything leaves; the simulator and the kernel send after each. Of "
    "two ACKs 0.1 ms apart the second sees a flight of two packets, and RFC 6817 2.4.2 allows one packet above the "
    "flight: the window stays at three to four packets. Three more runs had the same."
)

REASONS: dict[tuple[str, str], str] = {  # (scheme, path or "" for all): why the two backends differ
    ("copa-gcc2018", "mexico-cellular"): (
        "One RTT sample decides when genericCC's slow start ends, and whether a packet catches an opportunity of this "
        "path (4.5 ms apart on average) is a matter of microseconds: the window ended a packet train apart, and the "
        "queue of that overshoot is the 95th percentile of a short run."
    ),
    ("fillp-sheep", "steady-12mbps"): (
        "FillP-Sheep counts whole packets from one PACK to the next and keeps the largest of 21 counts, so 20 ms "
        "against 0.89 ms per packet decide about the queue. A real timer fires some 20 us late, and the next PACK "
        "counts from there. With `--set fillp-sheep.pack_floor_ms=20.03` the simulator has 54 instead of 70 ms, with "
        "20.06 45; four more runs with real packets had 58 to 61."
    ),
    ("ledbat", "india-aws-india"): ACKS_TOGETHER,
    ("ledbat", "mexico-cellular"): ACKS_TOGETHER,
    ("gcc", "steady-12mbps"): (
        "Chance: when the delay detector first answers. Five more runs with real packets had 61.9 to 89.9 ms, the 80 "
        "simulated ones 74.9 to 90.6 ms."
    ),
    ("sprout", "lossy-50mbps"): (
        "The RTT of this path is two of Sprout's ticks of 20 ms, and it matters on which side of a tick a packet "
        "falls: with 19.9 instead of 20 ms each way the simulator has 31.2 instead of 28.5 ms. Five more runs with "
        "real packets had 32.1 to 33.0 ms. Which delay of the real hosts decides is not known."
    ),
    ("tao-100x", "lossy-50mbps"): (
        "This table has two states (`cwnd`): a window of several hundred packets, which fills the queue, and a cycle "
        "of 2, 81 and 220 packets with 16 Mbit/s and an empty queue. Chance moves it between them: with real packets "
        "it was in the cycle from 1 s on, in the simulated run from 11.5 s on. Of the 80 simulated runs 19 have less "
        "than 46 Mbit/s, the lowest 16.8."
    ),
    ("bbr3", "lossy-50mbps"): (
        "Chance: which of the probes meets a random loss. Four more runs with real packets had 43 to 57 ms, and of the "
        "simulated ones that without any jitter (`--exact`) has 36."
    ),
}

REAL_REASONS: dict[tuple[str, str], str] = {  # (real implementation, path or "" for all): why it differs from ours
    ("bpf-copa-delay", "india-aws-india"): (
        "The kernel paces a millisecond of data at a time: five to seven segments leave together, from our "
        "`copa-delay` one (gaps below 50 us in `packets.parquet`). Copa aims at two packets in the queue, at this rate "
        "0.24 ms, so the bursts themselves are more queue than it wants, and its window settles at half of ours "
        "(`cwnd`). Ours is as sensitive: 0.3 ms of lateness in the simulator move its 66 Mbit/s to between 70 and 90."
    ),
    ("bpf-ledbat", "india-aws-india"): "Ours is the one that stays behind, as above. " + ACKS_TOGETHER,
    ("bpf-copa-delay", "lossy-50mbps"): (
        "At the start the kernel's window overshoots further (390 packets against 290 in a run of 10 s) and the queue "
        "stays full for half a second longer, which in a short run is the 95th percentile. Afterwards window and RTT "
        "are those of ours (`cwnd`, `srtt`)."
    ),
    ("bpf-copa-delay", "mexico-cellular"): (
        "The kernel acknowledges every second segment, our `copa-delay` every packet; with `--set "
        "copa-delay.transport.ack_every=2 --set copa-delay.transport.ack_delay_ms=40` ours has 5 % less throughput and "
        "12 % less delay in the simulator."
    ),
    ("kernel-cubic", "steps-40-10mbps"): (
        "Two or three reductions at the first step down: the window is 131 packets after it or 91. Three of four runs "
        "of the kernel's reduced three times (112 ms), one twice (165 ms); ours twice, in 51 simulated runs with the "
        "step between 3.80 and 4.08 s too. The packets of the third had been lost when those of the second were sent "
        "again into the full queue; to which episode they belong hangs on a loss 60 ms (kernel) or 80 ms (ours) after "
        "the one before the step. Why the kernel's window had grown by that packet earlier is not known."
    ),
    ("bpf-ledbat", "steps-40-10mbps"): (
        "The kernel's window grows faster in the first second (69 packets received after 0.5 s, ours 55 in both "
        "backends) and keeps that lead until the rate falls; why is not known. Four more runs with real packets, of "
        "which three were in time, had 82 to 95 ms with ours, the kernel's 99 to 101."
    ),
    ("quic-cubic", "steps-40-10mbps"): (
        "As on lossy-50mbps: quiche takes reductions back, so it goes on losing 20 to 35 packets each half second for "
        "2.5 s after the step down (`packets.parquet`), with the queue full. Ours reduces once or twice."
    ),
    ("bpf-vegas", "mexico-cellular"): (
        "The smallest RTT of one round ends slow start, and on this trace that is chance: over 60 seeds the p95 of our "
        "own in the simulator is either 175 to 315 ms or 528 to 709 ms (10 s). With other seeds the kernel's run is in "
        "the same two groups, and where both end slow start in the same round they differ by less than 1 %."
    ),
    ("quic-cubic", "mexico-cellular"): (
        "The queue holds 130 packets whatever their size, and quiche's are smaller: 1280 bytes on average, ours 1499, "
        "so a full queue is 15 % shorter."
    ),
    ("quic-cubic", "lossy-50mbps"): (
        "quiche takes a reduction back when less than a fifth of the window was lost (`ROLLBACK_THRESHOLD_PERCENT` in "
        "its cubic.rs), so single random losses cost it less. Linux and ours take it back only when the loss is shown "
        "to be spurious."
    ),
}

LEAVES_EARLY = (
    "quiche's Reno leaves slow start by HyStart++, before the queue is full, and one packet for each round trip does "
    "not fill the queue within 10 s. Ours leaves slow start at the first loss, with a window of 163 packets."
)
ALWAYS_REDUCED = (
    "quiche's Reno takes no reduction back (0.30.0, `reno.rs`, `rollback`): each false loss halves its window. Ours "
    "takes back what turns out to be false (RFC 3708)."
)
SELDOM_UNDONE = (
    "quiche's CUBIC takes no reduction of its slow start back, and none after which a fifth of the window was lost "
    "(0.30.0, `cubic.rs`, `rollback`). Its packet threshold rises up to 20, that of our profile `quic` stays."
)
LATE = ("late-1pct-60ms", "late-10pct-10ms", "late-50pct-30ms", "late-75pct-5ms")
REAL_REASONS["kernel-reno", "late-10pct-10ms"] = (
    "Linux' receiver discards a late packet whose timestamp is older than the one of a retransmission that has come "
    "before it (PAWS, RFC 7323 5.3). Each such packet is sent again and reduces the window once more: the counter "
    "`PAWSEstab` has 11 or 12 after a run, in which the queue dropped nothing more and three to five reductions "
    "followed one another (`cwnd` 337 to 21). Of 12 runs of the kernel's 9 carried 14.8 to 16.9 Mbit/s, 3 carried "
    "19.1 to 19.5. Our packets have no timestamps of TCP's."
)
REAL_REASONS |= {("quic-reno", path): LEAVES_EARLY for path in ("late-1pct-1ms", "route-change", "spike", "outage")}
REAL_REASONS |= {("quic-reno", path): ALWAYS_REDUCED for path in LATE}
REAL_REASONS |= {("quic-cubic", path): SELDOM_UNDONE for path in LATE}

WITHIN = "within"
SPREAD, WIDE = "spread", "wide"  # followed by the ranges
UNEXPLAINED = "**not explained**"


@dataclass(frozen=True)
class Numbers:
    """One run: throughput in Mbit/s, 95th percentile of one-way delay in ms, share of bytes lost."""

    throughput: float
    p95: float
    loss: float
    status: str = "done"
    reason: str = ""
    late_p99_ms: float | None = None


@dataclass(frozen=True)
class Spread:
    """Smallest and largest value over repetitions in the simulator."""

    throughput: tuple[float, float]
    p95: tuple[float, float]

    def __str__(self) -> str:
        rates, delays = self.throughput, self.p95
        return f"{rates[0]:.2f} to {rates[1]:.2f} Mbit/s, {delays[0]:.1f} to {delays[1]:.1f} ms"


@dataclass(frozen=True)
class Bounds:
    """Maximum differences of two runs: shares, and the delay that is always allowed, ms."""

    throughput: float
    p95: float
    p95_ms: float

    def hold(self, side: Numbers, other: Numbers, around: Spread | None = None) -> bool:
        """Return True if `other` is like `side`, or like the repetitions `around`; values on the bound count."""
        rate, delay = abs(other.throughput - side.throughput), abs(other.p95 - side.p95)
        good_rate = rate <= self.throughput * side.throughput
        good_delay = delay <= self.p95_ms or delay <= self.p95 * side.p95
        if around is not None:
            good_rate |= around.throughput[0] <= other.throughput <= around.throughput[1]
            good_delay |= around.p95[0] <= other.p95 <= around.p95[1]
        return good_rate and good_delay

    @property
    def of_spread(self) -> Bounds:
        """Return the bounds of what the spread of repetitions can excuse: twice as wide.

        Of a scheme whose runs differ that much a range that holds both values says nothing.
        """
        return Bounds(2 * self.throughput, 2 * self.p95, 2 * self.p95_ms)


# These bounds are for the simulator and real packets, two implementations.
BACKENDS = Bounds(throughput=0.05, p95=0.10, p95_ms=2.0)
IMPLEMENTATIONS = Bounds(throughput=0.10, p95=0.10, p95_ms=2.0)
STRICT = ("agreement-reordering",)  # experiments whose implementations have the bounds of the backends


def only_flow(run: dict[str, Any] | None) -> Numbers | str:
    """Return the run's only flow, or the reason why there is none."""
    if run is None:
        return "missing"
    if not run["flows"]:
        return f"{run['status']}: {run['reason']}"
    flow = run["flows"][0]
    late = run.get("emulation", {}).get("lateness_us", {}).get("p99")
    return Numbers(
        throughput=flow["throughput_mbps"] or 0.0,
        p95=flow["delay_p95_ms"] or 0.0,
        loss=flow["loss_rate"] or 0.0,
        status=run["status"],
        reason=run["reason"] or "",
        late_p99_ms=None if late is None else late / 1e3,
    )


def first(runs: Runs, path: str, scheme: str) -> Numbers | str:
    """Return run 1 of a cell of the experiment."""
    first_runs = [run for run in runs.get((path, scheme), []) if run["run"] == 1]
    return only_flow(first_runs[0] if first_runs else None)


def spread(runs: list[dict[str, Any]]) -> Spread | None:
    """Return the range of the good runs, or None."""
    all_numbers = [flow_numbers for flow_numbers in map(only_flow, runs) if isinstance(flow_numbers, Numbers)]
    if not all_numbers:
        return None
    throughput, p95 = (
        [numbers_of_run.throughput for numbers_of_run in all_numbers],
        [numbers_of_run.p95 for numbers_of_run in all_numbers],
    )
    return Spread((min(throughput), max(throughput)), (min(p95), max(p95)))


class Notes:
    """Reasons, numbered in the order of their first use in the tables."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def mark(self, text: str) -> str:
        """Return the reference to a reason in a table."""
        if text not in self.texts:
            self.texts.append(text)
        return f"[{self.texts.index(text) + 1}]"

    def lines(self) -> list[str]:
        """Return all reasons, for below the tables."""
        return [f"{number}. {text}" for number, text in enumerate(self.texts, 1)]


def verdict(
    own_numbers: Numbers, other: Numbers, bounds: Bounds, around: Spread | None, reason: str | None, notes: Notes
) -> str:
    """Return one word for a row: within the bounds or the spread of repetitions, or the reason why not."""
    if other.status != "done":
        return f"{other.status} {notes.mark(other.reason)}"
    if bounds.hold(own_numbers, other):
        return WITHIN
    if around is not None and bounds.hold(own_numbers, other, around):
        return f"{SPREAD if bounds.of_spread.hold(own_numbers, other) else WIDE}: {around}"
    return UNEXPLAINED if reason is None else notes.mark(reason)


def find_reason(reasons: dict[tuple[str, str], str], scheme: str, path: str) -> str | None:
    """Return the reason for a cell; one for the cell alone precedes one for all paths."""
    return reasons.get((scheme, path), reasons.get((scheme, "")))


def percent(base: float, other: float) -> str:
    """Return the difference of `other` from `base`, in percent."""
    return f"{with_sign(100.0 * (other / base - 1.0))} %" if base else "-"


def with_sign(value: float) -> str:
    """Return one decimal with its sign; zero has none."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


Judge = Callable[[Numbers, Numbers], str]
"""Function that returns the verdict on two runs."""


def row(name: str, own_numbers: Numbers | str, other: Numbers | str, judge: Judge) -> list[str]:
    """Return a line of a table; `judge` gives the verdict if both runs have numbers."""
    if isinstance(own_numbers, str) or isinstance(other, str):
        missing = own_numbers if isinstance(own_numbers, str) else other
        return [name, *["-"] * 6, str(missing)]
    late = "-" if other.late_p99_ms is None else f"{other.late_p99_ms:.2f}"
    return [
        name,
        f"{own_numbers.throughput:.2f} / {other.throughput:.2f}",
        percent(own_numbers.throughput, other.throughput),
        f"{own_numbers.p95:.1f} / {other.p95:.1f}",
        f"{with_sign(other.p95 - own_numbers.p95)} ({percent(own_numbers.p95, other.p95)})",
        f"{100.0 * own_numbers.loss:.2f} / {100.0 * other.loss:.2f}",
        late,
        judge(own_numbers, other),
    ]


def judge_of(bounds: Bounds, late: list[dict[str, Any]], reason: str | None, notes: Notes) -> Judge:
    """Return the judge of one cell; `late` are the simulated repetitions around it."""
    around = spread(late)
    return lambda own_numbers, other: verdict(own_numbers, other, bounds, around, reason, notes)


def table(names: str, compared_sides: str, rows: list[list[str]]) -> list[str]:
    """Return a table in Markdown; `compared_sides` are compared, the rows are `names`."""
    titles = [
        names,
        f"Mbit/s, {compared_sides}",
        "difference",
        f"p95 ms, {compared_sides}",
        "difference",
        f"loss %, {compared_sides}",
        "late p99 ms",
    ]
    return [markdown.render(Table.of([*titles, "verdict"], rows, "lrrrrrrl")), ""]


def backend_tables(titles: dict[str, str], schemes: list[str], sim: Runs, emu: Runs, late: Runs) -> list[str]:
    """Return the tables of every scheme on every path, simulated and with real packets."""
    notes, lines, verdicts = Notes(), list[str](), list[str]()
    for path, title in titles.items():
        rows = []
        for scheme in schemes:
            judge = judge_of(BACKENDS, late.get((path, scheme), []), find_reason(REASONS, scheme, path), notes)
            rows.append(row(scheme, first(sim, path, scheme), first(emu, path, scheme), judge))
        verdicts += [line[-1] for line in rows]
        lines += [f"### {title}", "", *table("scheme", "sim / emu", rows)]
    return [summary(verdicts, BACKENDS), "", *lines, *notes.lines(), *([""] if notes.texts else [])]


def pair_tables(name: str, titles: dict[str, str], emu: Runs, real: Runs, late: Runs) -> list[str]:
    """Return the tables of every real implementation of experiment `name` and its built-in scheme, both emulated."""
    notes, lines, verdicts = Notes(), list[str](), list[str]()
    bounds = BACKENDS if name in STRICT else IMPLEMENTATIONS
    for scheme, own_scheme in WITH_REAL[name].items():
        rows = []
        for path in titles:
            judge = judge_of(bounds, late.get((path, own_scheme), []), find_reason(REAL_REASONS, scheme, path), notes)
            rows.append(row(path, first(emu, path, own_scheme), first(real, path, scheme), judge))
        verdicts += [line[-1] for line in rows]
        lines += [f"### {scheme} beside our {own_scheme}", "", *table("path", "ours / real", rows)]
    return [summary(verdicts, bounds), "", *lines, *notes.lines(), *([""] if notes.texts else [])]


def summary(verdicts: list[str], bounds: Bounds) -> str:
    """Return the numbers of cells by verdict."""
    within = verdicts.count(WITHIN)
    spread_out, wide = (sum(verdict.startswith(word) for verdict in verdicts) for word in (SPREAD, WIDE))
    reasons = sum(verdict.startswith("[") for verdict in verdicts)
    count = verdicts.count(UNEXPLAINED)
    rest = len(verdicts) - within - spread_out - wide - reasons - count
    limits = f"{100 * bounds.throughput:g} % of throughput, {100 * bounds.p95:g} % or {bounds.p95_ms:g} ms of delay"
    return (
        f"Of {len(verdicts)} cells {within} are within bounds ({limits}), {spread_out} more within the spread of "
        f"repetitions, {wide} further apart than a spread can excuse, {reasons} differ for a known reason, "
        f"{count} are not explained, {rest} have no good run."
    )


def machine(environments: list[dict[str, Any]]) -> str:
    """Return the place and the time of the emulated runs."""

    def every(key: str) -> str:
        return ", ".join(dict.fromkeys(str(environment[key]) for environment in environments))

    commits = dict.fromkeys(git["commit"][:7] for git in (e.get("git") for e in environments) if git)
    commit = f" ({', '.join(commits)})" if commits else ""
    dates = sorted(str(environment["started_at"])[:10] for environment in environments)
    days = " to ".join(dict.fromkeys([dates[0], dates[-1]]))
    return (
        f"Machine: {every('cpu')}, {every('cpus')} processors, {every('kernel')}. "
        f"dumbbell {every('dumbbell')}{commit}, {days}."
    )


PAGE = """# {title}

Written by `{command}`. Every run is one flow of {duration_s:g} s
(`dumbbell list experiments`). Throughput, 95th percentile of one-way delay and loss are those of
[metrics.md](../reference/metrics.md) in Pantheon's convention: the whole run counts, its start included.

{facts}

{others}

Verdicts: `within` the bounds of the section; `spread`: outside, but within twice of them, and inside the ranges of
{count} simulated runs, most with other seeds, in which packets are late at random ({late} ms on average
in each direction), as real machines make them; `wide`: inside these ranges too, but more than twice the bounds apart,
so that one run of each says nothing for or against agreement; `[n]`: for the reason below the tables. `late p99` is
how late the emulator let packets go. Degraded runs (later than a bound that depends on the path) are shown but not
judged.

## The simulator and real packets

The same controller, transport and path objects with the same seed: under a virtual clock, and with UDP packets
through network namespaces under the real one.

{backends}{pairs}"""

PAIRS_SECTION = """
## Real implementations and ours

All with real packets, and with the seed of our run: the traces and the numbers of the packets that are lost at random
are the same.

{pairs}"""

TITLES = {
    "agreement": "Agreement",
    "agreement-more": "Agreement: rate-based, cellular and media schemes",
    "agreement-learned": "Agreement: learned schemes",
    "agreement-steps": "Agreement: a rate that steps",
    "agreement-reordering": "Agreement: packets that are late, and outages",
}


def page(title: str, command: str, duration_s: float, facts: str, backends: list[str], pairs: list[str]) -> str:
    """Return the document; without `pairs` it has no section about real implementations."""
    join = ", ".join(f"[{name}]({name}.md)" for name in TITLES if TITLES[name] != title)
    text = PAGE.format(
        title=title,
        command=command,
        duration_s=duration_s,
        facts=facts,
        others=f"Other pages: {join}.",
        count=REPETITIONS * len(LATE_MS),
        late=", ".join(f"{ms:g}" for ms in LATE_MS),
        backends="\n".join(backends),
        pairs=PAIRS_SECTION.format(pairs="\n".join(pairs)) if pairs else "",
    )
    return text.rstrip("\n") + "\n"


def run_command(arguments: list[str]) -> str | None:
    """Run the command and show its messages; return the reason if it did not run. Failed runs are in its results."""
    command = [sys.executable, "-m", "dumbbell", "run", *arguments]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            print(line, end="", file=sys.stderr)
            last = line.strip() or last
    if process.returncode in (0, 1):
        return None
    return last or f"exit status {process.returncode}"


def late_experiment(experiment: dict[str, Any], ms: float) -> dict[str, Any]:
    """Return the experiment with random lateness of packets, `ms` on average."""
    late = {"kind": "jitter", "distribution": "exponential", "mean_ms": ms}
    paths = {
        name: path | {direction: [*path[direction], late] for direction in ("data", "ack")}
        for name, path in experiment["path"].items()
    }
    return experiment | {"name": "agreement-late", "runs": REPETITIONS, "path": paths}


def real_experiment(experiment: dict[str, Any], scheme: str, plan: dumbbell.ExperimentFile) -> dict[str, Any]:
    """Return `experiment` with one real implementation over the paths of `plan`, including `plan`'s own paths."""
    own_paths = tomllib.loads(Path(plan.file).read_text(encoding="utf-8")).get("path", {})
    return experiment | {"schemes": [scheme], "paths": plan.paths} | ({"path": own_paths} if own_paths else {})


def write_experiment(keep: Path, name: str, experiment: dict[str, Any]) -> str:
    """Write the experiment into a file of that name; return the file."""
    file = keep / f"{name}.toml"
    file.write_text(tomli_w.dumps(experiment))
    return str(file)


def load(directory: Path) -> tuple[Runs, dict[str, Any]]:
    """Return the runs of a results directory, and its environment."""
    results = dumbbell.open(directory)
    runs: Runs = {}
    for run in results.runs:
        runs.setdefault((run.path, run.scheme), []).append(run.statistics)
    return runs, results.environment


def left_out(schemes: list[str], paths: list[str], reason: str) -> Runs:
    """Return entries for runs that were left out."""
    run = {"run": 1, "status": "left out", "reason": reason, "flows": []}
    return {(path, scheme): [run] for path in paths for scheme in schemes}


def measure(keep: Path, name: str, duration_s: float) -> tuple[list[Runs], list[dict[str, Any]]]:
    """Execute unfinished runs: simulated, emulated, simulated with late packets, real implementations."""
    usual = ["--duration", f"{duration_s:g}", "--resume"]
    keep.mkdir(parents=True, exist_ok=True)
    demand(run_command([name, "--backend", "sim", "--out", str(keep / "sim"), *usual]))
    document = tomllib.loads((keep / "sim" / "experiment.toml").read_text(encoding="utf-8"))
    late: Runs = {}
    for ms in LATE_MS:
        label = f"late-{ms:g}ms"
        file = write_experiment(keep, label, late_experiment(document, ms))
        demand(run_command([file, "--log", "none", "--out", str(keep / label), *usual]))
        for key, runs in load(keep / label)[0].items():
            late.setdefault(key, []).extend(runs)
    demand(run_command([name, "--backend", "emu", "--out", str(keep / "emu"), *usual]))
    sim, _ = load(keep / "sim")
    emu, environment = load(keep / "emu")
    real: Runs = {}
    environments = [environment]
    listed_experiment = tomllib.loads(
        Path(dumbbell.experiments().find("agreement-real").file).read_text(encoding="utf-8")
    )
    plan = dumbbell.experiments().find(name)
    for scheme, own_scheme in WITH_REAL.get(name, {}).items():
        file = write_experiment(keep, scheme, real_experiment(listed_experiment, scheme, plan))
        refusal = run_command([file, "--out", str(keep / scheme), *usual])
        if refusal is None:
            loaded_runs, environment = load(keep / scheme)
            real |= loaded_runs
            environments.append(environment)
        else:
            real |= left_out([scheme], [path for path, name in emu if name == own_scheme], refusal)
    return [sim, emu, late, real], environments


def demand(refusal: str | None) -> None:
    """End the script if nothing can be compared."""
    if refusal is not None:
        sys.exit(f"agreement: {refusal}")


def main() -> None:
    """Run everything and print or write the page."""
    parser = argparse.ArgumentParser(description="The simulator beside real packets, ours beside real implementations.")
    parser.add_argument("--write", type=Path, help="the page; default: print it")
    parser.add_argument("--experiment", choices=TITLES, default="agreement", help="what is compared")
    parser.add_argument("--quick", action="store_true", help="10 s a run instead of the experiment's length")
    parser.add_argument("--keep", type=Path, help="where results are, and continued")
    options = parser.parse_args()
    name, plan = options.experiment, dumbbell.experiments().find(options.experiment)
    keep = options.keep or Path("results") / (f"{name}-quick" if options.quick else name)
    duration_s = 10.0 if options.quick else plan.duration_s
    try:
        (sim, emu, late, real), environments = measure(keep, name, duration_s)
    except dumbbell.Error as error:
        sys.exit(f"agreement: {error}")
    paths = {path: (plan.own_paths.get(path) or dumbbell.paths().find(path)).title for path in plan.paths}
    words = ("" if name == "agreement" else f" --experiment {name}") + (" --quick" if options.quick else "")
    command = f"python -m validation.agreement{words} --write docs/evidence/{name}.md"
    text = page(
        TITLES[name],
        command,
        duration_s,
        machine(environments),
        backend_tables(paths, plan.schemes, sim, emu, late),
        pair_tables(name, paths, emu, real, late) if name in WITH_REAL else [],
    )
    if options.write:
        options.write.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
