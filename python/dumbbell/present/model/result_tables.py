"""The tables of a report, as rows of texts that the page and the print lay out alike."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from dumbbell.base.conventions import CORRECTED as CORRECTED_CONVENTION, MainMetric
from dumbbell.base.digits import decimal
from dumbbell.present.model.captions import starts_sentence
from dumbbell.present.model.content import ReportModel, RunEntry
from dumbbell.present.model.source import definitions
from dumbbell.present.model.words.network import network_rows
from dumbbell.present.model.words.wording import NO_DATA
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.shares import Share, competing_heading, competing_text, flow_names, flow_schemes, shares
from dumbbell.results.analysis.summary import Estimate, Repetitions, bounds_legend
from dumbbell.results.clocks import Interval, clocks_text
from dumbbell.results.numbers import value_of
from dumbbell.results.series.transfers import SUM

if TYPE_CHECKING:
    from dumbbell.contract.statistics import FlowStats


@dataclass(frozen=True)
class ShownMetric:
    """How a metric is shown: key in the statistics, heading, factor to the unit shown, decimals, heading above."""

    key: str
    heading: str
    factor: float = 1.0
    decimals: int = 2
    group: str = ""

    @classmethod
    def of(cls, metric: MainMetric, group: str = "") -> Self:
        """Return the column of a main metric."""
        return cls(metric.key, f"{metric.title} ({metric.unit})", metric.factor, metric.digits, group)

    def number(self, value: float, decimals: int | None = None) -> str:
        """Return the value as text."""
        return decimal(value * self.factor, self.decimals if decimals is None else decimals)

    def single(self, value: float | None, interval: Interval | None = None) -> Field:
        """The field of one value; `interval` is where the clocks say that the true one lies."""
        note = clocks_text(interval, self.number)
        return Field(NO_DATA) if value is None else Field(self.number(value), note, sort=value)

    def mean(self, estimate: Estimate | None) -> Field:
        """The field of a mean, and where it lies."""
        if estimate is None:
            return Field("N/A")
        whole = self.decimals == 0 and estimate.count > 1 and estimate.bounds != "equal"
        decimals = 1 if whole else self.decimals  # a mean of counts is no count
        note = "\n".join(estimate.bounds_lines(lambda value: self.number(value, decimals)))
        return Field(self.number(estimate.mean, decimals), note, estimate.mean)


_DEFINED = ("name", "level", "unit", "convention", "formula", "source")
_RUNS = "#\u00a0runs"
_DELAY = "one-way delay (ms), corrected"
_SENDER = "sender"
_LINK = "bottleneck link"

PANTHEON = (
    ShownMetric("throughput_mbps", "mean avg tput (Mbit/s)"),
    ShownMetric("delay_p95_ms", "mean 95th-%ile delay (ms)"),
    ShownMetric("loss_rate", "mean loss rate (%)", 100.0),
)
CORRECTED = (
    ShownMetric("goodput_mbps", "goodput (Mbit/s)", group="corrected"),
    ShownMetric("packet_loss_rate", "packet loss (%)", 100.0, group="corrected"),
    ShownMetric("owd_min_ms", "min", group=_DELAY),
    ShownMetric("owd_mean_ms", "mean", group=_DELAY),
    ShownMetric("owd_p50_ms", "median", group=_DELAY),
    ShownMetric("owd_p95_ms", "95th", group=_DELAY),
    ShownMetric("owd_p99_ms", "99th", group=_DELAY),
    ShownMetric("self_inflicted_delay_p95_ms", "95th \u2212 min", group=_DELAY),
)
SENDER = (
    ShownMetric("mean_cwnd_bytes", "mean cwnd (kB)", 1e-3, 1, _SENDER),
    ShownMetric("rtt_min_ms", "min RTT (ms)", 1.0, 1, _SENDER),
    ShownMetric("rtt_p50_ms", "median RTT (ms)", 1.0, 1, _SENDER),
    ShownMetric("rtt_p95_ms", "95th RTT (ms)", 1.0, 1, _SENDER),
    ShownMetric("mean_srtt_ms", "mean SRTT (ms)", 1.0, 1, _SENDER),
    ShownMetric("retransmissions", "resent (packets)", 1.0, 0, _SENDER),
    ShownMetric("timeouts", "timeouts", 1.0, 0, _SENDER),
)
FAIRNESS = (
    ShownMetric("jain_index", "Jain index", 1.0, 3, "fairness"),
    ShownMetric("jain_index_mean", "Jain index, mean of bins", 1.0, 3, "fairness"),
    ShownMetric("jain_seen_p50", "Jain index, median of windows", 1.0, 3, "fairness"),
    ShownMetric("jain_active_p50", "the same, idle flows included", 1.0, 3, "fairness"),
)
LINK = (
    ShownMetric("capacity_mbps", "capacity (Mbit/s)", 1.0, 2, _LINK),
    ShownMetric("utilization", "utilisation (%)", 100.0, 1, _LINK),
    ShownMetric("mean_queue_packets", "mean queue (packets)", 1.0, 1, _LINK),
    ShownMetric("max_queue_packets", "longest queue (packets)", 1.0, 0, _LINK),
    ShownMetric("mean_queue_delay_ms", "mean queueing delay (ms)", 1.0, 2, _LINK),
    ShownMetric("packets_dropped", "dropped (packets)", 1.0, 0, _LINK),
    ShownMetric("packets_marked", "marked (packets)", 1.0, 0, _LINK),
)
MEDIA = (
    ShownMetric("media.media_rate_mbps", "bitrate (Mbit/s)", group="decoded"),
    ShownMetric("media.media_utilization", "utilisation (%)", 100.0, 1, "decoded"),
    ShownMetric("media.frame_delay_p50_ms", "median", 1.0, 1, "frame delay (ms)"),
    ShownMetric("media.frame_delay_p95_ms", "95th", 1.0, 1, "frame delay (ms)"),
    ShownMetric("media.frame_delay_p99_ms", "99th", 1.0, 1, "frame delay (ms)"),
    ShownMetric("media.stall_ratio", "time (%)", 100.0, 2, "stalls"),
    ShownMetric("media.stalls", "number", 1.0, 0, "stalls"),
    ShownMetric("media.frames_written", "written", 1.0, 0, "frames"),
    ShownMetric("media.frames_skipped", "skipped", 1.0, 0, "frames"),
    ShownMetric("media.frames_decoded", "decoded", 1.0, 0, "frames"),
)

_AMOUNT = ShownMetric("", "", decimals=1)
_LATENESS = ("packets", "p50", "p90", "p99", "p999", "max", "bound")


def groups(names: int, metrics: Sequence[ShownMetric]) -> tuple[tuple[str, int], ...]:
    """The headings above the columns: nothing above the names, then a heading for each stretch of equal groups."""
    found = [("", names)]
    for group, members in itertools.groupby(metrics, lambda metric: metric.group):
        found.append((group, len(list(members))))
    return tuple(found)


_PANTHEON_RULES = "Pantheon convention: whole log, sizes with overhead, packets under way at the end are lost."


def corrected_rules(warmup_s: float) -> str:
    """What the corrected numbers leave out."""
    return (
        f"Corrected convention: payload only, without the first {warmup_s:.3g} s and without packets under way at the "
        "end. One-way delays with percentiles."
    )


class PathTables:
    """The tables of one path."""

    def __init__(self, model: ReportModel, path: str) -> None:
        self.model = model
        self.runs = model.of(path)
        self.flows = max((len(run.flows) for run in self.runs), default=0) or model.flows
        self.by_scheme = [
            model.gathered.get((path, scheme.name), Repetitions(path, scheme.name)) for scheme in model.schemes
        ]

    def all(self) -> list[tuple[str, Table]]:
        """Every table of the path that has numbers, with its heading, Pantheon's first."""
        tables = [
            ("Means over the runs", self.means()),
            ("Who got what", self.shares()),
            ("Goodput, loss and delay, corrected", self.corrected()),
            ("Media", self.media()),
            ("Link and sender" if self.flows == 1 else "Fairness, link and senders", self.network()),
            ("Transfers", self.transfers()),
            ("Lateness of the emulated packets", self.lateness()),
        ]
        return [(heading, table) for heading, table in tables if "r" in table.align and table.rows]

    def means(self) -> Table:
        """Pantheon's table: means per scheme and flow, and over all flows where there are several.

        Flows of different schemes have no columns in common: where there are some, every flow has a row.
        """
        if any(map(flow_schemes, self.by_scheme)):
            return self._flow_rows(PANTHEON, self._caption(_PANTHEON_RULES), with_runs=True)
        columns = [f"flow {number}" for number in range(1, self.flows + 1)]
        keys: list[tuple[str, int]] = [("flow", number) for number in range(1, self.flows + 1)]
        if self.flows > 1:
            columns.append("all")
            keys.append(("network", 0))
        rows = [
            (
                self._scheme(group.scheme),
                runs_field(group),
                *(metric.mean(group.estimate((*key, metric.key))) for metric in PANTHEON for key in keys),
            )
            for group in self.by_scheme
        ]
        above = (("", 2), *((metric.heading, len(columns)) for metric in PANTHEON))
        return Table(self._caption(_PANTHEON_RULES), above, ("scheme", _RUNS, *columns * 3), tuple(rows))

    def shares(self) -> Table:
        """What each flow got in runs of several flows, by the model's convention."""
        shown = self.model.shown
        alone = {(group.path, group.scheme): group for group in self.by_scheme}
        found = [(group, share) for group in self.by_scheme for share in shares(group, shown, alone)]
        metrics = (
            ShownMetric("payload_share", "share (%)", 100.0, 1),
            *(
                replace(ShownMetric.of(metric, shown.label), key=key)
                for metric, key in zip(shown.metrics, ("throughput_mbps", "delay_p95_ms", "loss_rate"), strict=True)
            ),
        )
        harm = ShownMetric("harm", "harm (%)", 100.0, 1)
        harmed = [harm] if any(share.harms is not None for _, share in found) else []
        rows = [
            (
                self._scheme(group.scheme),
                Field(self._who(share)),
                Field(f"{100 * share.fair:.1f}", sort=share.fair),
                *(metric.mean(getattr(share, metric.key)) for metric in metrics),
                *(harm.mean(share.harms) for harm in harmed),
            )
            for group, share in found
        ]
        columns = ("flows of", "who", "fair share (%)", *(metric.heading for metric in (*metrics, *harmed)))
        caption = self._caption(
            f"Share of the payload, {self._share_time([group for group, _ in found])}; the fair share is the same for "
            "every flow."
            + f" {starts_sentence(self.model.interval_s)}".rstrip()
            + (" Harm: the part of the throughput alone that is lost beside the others." if harmed else "")
        )
        return Table(caption, groups(3, (*metrics, *harmed)), columns, tuple(rows), "ll")

    def _share_time(self, found: Sequence[Repetitions]) -> str:
        """Return the time in which shares are counted, for the caption."""
        if self.model.shown is not CORRECTED_CONVENTION:
            return "without the warm-up"
        times = [competing_text(group) for group in found]
        if not all(times):
            return "after the warm-up or, where that is known, while all flows compete"
        return competing_heading(times)

    def _who(self, share: Share) -> str:
        """Return the name of a row: with the title of its scheme, if it is called by that."""
        rest = share.name.removeprefix(share.scheme)
        return share.name if rest == share.name else f"{self.model.scheme_title(share.scheme)}{rest}"

    def corrected(self) -> Table:
        """Goodput, loss and delays in the corrected convention; a row per flow, and one for all of several."""
        metrics = self._present("flow", CORRECTED)
        caption = self._caption(corrected_rules(self.model.warmup_s))
        return self._flow_rows(metrics, caption)

    def _flow_rows(self, metrics: Sequence[ShownMetric], caption: str, with_runs: bool = False) -> Table:
        """A row for every flow, and one for all where there are several."""
        rows = []
        for group in self.by_scheme:
            names = self._flow_names(group)
            keys: list[tuple[str, int]] = [("flow", number) for number in range(1, len(names) + 1)]
            if len(names) > 1:
                keys.append(("network", 0))
            for entity, number in keys:
                name = names[number - 1] if number else "all"
                which = (Field(name, sort=number or self.flows + 1),) if self.flows > 1 else ()
                values = [metric.mean(group.estimate((entity, number, metric.key))) for metric in metrics]
                count = (runs_field(group),) if with_runs else ()
                rows.append((self._scheme(group.scheme), *which, *count, *values))
        columns = ["scheme", "flow"] if self.flows > 1 else ["scheme"]
        texts = len(columns)
        columns += [_RUNS] if with_runs else []
        above = groups(len(columns), metrics)
        return Table(caption, above, (*columns, *(metric.heading for metric in metrics)), tuple(rows), "l" * texts)

    def _flow_names(self, group: Repetitions) -> list[str]:
        """Those of the flows of a scheme or mix: by their schemes' titles where these differ, else numbers."""
        schemes = flow_schemes(group)
        if not schemes:
            count = max((len(flows) for flows in group.flows), default=self.flows)
            return [str(number) for number in range(1, count + 1)]
        return flow_names([self.model.scheme_title(scheme) for scheme in schemes])

    def media(self) -> Table:
        """What viewers of live sources got; a row for every flow that is one."""
        rows = []
        for group in self.by_scheme:
            for number, name in enumerate(self._flow_names(group), 1):
                if ("flow", number, MEDIA[-1].key) not in group.values:
                    continue
                flow = (Field(name, sort=number),) if self.flows > 1 else ()
                values = [metric.mean(group.estimate(("flow", number, metric.key))) for metric in MEDIA]
                rows.append((self._scheme(group.scheme), *flow, *values))
        names = 2 if self.flows > 1 else 1
        columns = ("scheme", "flow")[:names]
        caption = (
            "Live video. Frames are counted over the whole run, all else without the first "
            f"{self.model.warmup_s:.3g} s. Utilisation is of the source's highest bitrate, or of a fair share of the "
            "link if that is less. Frame delay is from capture to decoding; a stall is an interval between decoded "
            "frames of at least three average ones that is also 150 ms above an average one."
        )
        headings = (metric.heading for metric in MEDIA)
        return Table(self._caption(caption), groups(names, MEDIA), (*columns, *headings), tuple(rows), "l" * names)

    def network(self) -> Table:
        """Fairness, the bottleneck link, and the sender's state."""
        parts = [
            ("network", 0, self._present("network", FAIRNESS) if self.flows > 1 else []),
            ("link", 1, self._present("link", LINK)),
            ("flow", 1, self._present("flow", SENDER)),
        ]
        rows = tuple(
            (
                self._scheme(group.scheme),
                *(
                    metric.mean(group.estimate((entity, number, metric.key)))
                    for entity, number, metrics in parts
                    for metric in metrics
                ),
            )
            for group in self.by_scheme
        )
        metrics = [metric for _, _, metrics in parts for metric in metrics]
        first = " Sender: flow 1." if self.flows > 1 else ""
        caption = self._caption(f"Counted over the whole run; queue lengths are means over time.{first}")
        return Table(caption, groups(1, metrics), ("scheme", *(metric.heading for metric in metrics)), rows)

    def transfers(self) -> Table:
        """What each flow of each run transferred over its whole time, at both ends, and the extreme intervals."""
        rows = [row for run in self.runs for row in self._transfer_rows(run)]
        found = [run.transfers for run in self.runs if run.transfers]
        interval_s = next((transfers.interval_s for transfers in found), 1.0)
        what = "payload" if all(transfers.payload for transfers in found) else "packets with their headers"
        caption = (
            f"KBytes are 1024 bytes of {what}. Client: when it entered the path; server: when it arrived; each byte "
            f"counts once, by the copy that got through. First, least and most are intervals of {interval_s:.10g} s; "
            "least and most leave out the first and any shorter one. The rows of every interval are with each run."
        )
        groups = (("", 3), ("client", 2), ("server", 2), ("server, per interval (KBytes/s)", 3))
        columns = ("scheme", "run", "flow", *("KBytes", "KBytes/s") * 2, "first", "least", "most")
        return Table(caption, groups, columns, tuple(rows), "lll")

    def _transfer_rows(self, run: RunEntry) -> list[tuple[Field, ...]]:
        found = run.transfers
        if found is None:
            return []
        clients = {row.flow: row for row in found.of("client", total=True)}
        rows = []
        for server in found.of("server", total=True):
            client = clients.get(server.flow)
            arrived = [row for row in found.of("server", total=False) if row.flow == server.flow]
            whole = [row for row in arrived[1:] if row.end_s - row.start_s > 0.999 * found.interval_s]
            rates = [row.kbytes_per_s for row in whole]
            name = Field(SUM, sort=self.flows + 1) if server.flow is None else Field(str(server.flow), sort=server.flow)
            sent = [client.kbytes, client.kbytes_per_s] if client else [None, None]
            values = [*sent, server.kbytes, server.kbytes_per_s]
            extremes = [arrived[0].kbytes_per_s, min(rates, default=None), max(rates, default=None)]
            amounts = [_AMOUNT.single(value) for value in (*values, *extremes)]
            rows.append((self._scheme(run.scheme), self._run(run), name, *amounts))
        return rows

    def lateness(self) -> Table:
        """How much later than planned packets left the emulated path, run by run."""
        rows = []
        for run in self.runs:
            if run.emulation is None:
                continue
            late: Mapping[str, Any] = run.emulation["lateness_us"]
            number = Field(str(run.number), sort=run.number)
            numbers = [Field(f"{late[key]:,}", sort=late[key]) for key in _LATENESS]
            lost = run.emulation["tx_dropped"] + run.emulation.get("socket_dropped", 0)
            made = run.content.get("attempts", 1)
            end = run.emulation.get("ends_latest_us")
            waits = [each["wait_p99_us"] for each in run.emulation.get("ends", ())]
            numbers += [
                Field(NO_DATA) if value is None else Field(f"{value:,}", sort=value)
                for value in (end, max(waits, default=None))
            ]
            others = [Field(f"{value:,}", sort=value) for value in (lost, made)]
            priority = run.emulation.get("real_time")
            others.append(Field(NO_DATA if priority is None else "yes" if priority else "no"))
            rows.append((self._scheme(run.scheme), number, Field(run.status), *numbers, *others))
        caption = (
            "Microseconds between the moment at which the path let a packet go and the moment at which it went; beside "
            "it how late a sending end of ours or of the kernel's woke up at most, and the 99th percentile of what an "
            "end, programs included, waited for a processor. A run one of whose 99th percentiles exceeds the bound "
            "(1 ms, or a twentieth of the base RTT if that is more) tells how far delays and rates are wrong. A run in "
            "which lateness added more than 0.5 ms to a round trip, or made rates wrong by more than 2 %, is made "
            "again, then counts as degraded; one that lost packets in a device or socket, outside the path, is "
            "invalid. Neither enters averages."
        )
        groups = (("", 3), ("", 1), ("lateness (\u00b5s)", 8), ("", 3))
        columns = (
            "packets",
            "median",
            "90th",
            "99th",
            "99.9th",
            "most",
            "bound",
            "sending end, most",
            "wait of an end, 99th",
            "lost outside the path",
            "attempts",
            "real-time priority",
        )
        return Table(caption, groups, ("scheme", "run", "status", *columns), tuple(rows), "lll")

    def _run(self, run: RunEntry) -> Field:
        return Field(str(run.number), "" if run.good else run.status, run.number)

    def _caption(self, rules: str) -> str:
        """The rules of the numbers, and what stands behind the means."""
        clocks = any(group.shifts for group in self.by_scheme)
        return f"{rules} {bounds_legend(max((group.good for group in self.by_scheme), default=0), clocks)}".strip()

    def _scheme(self, name: str) -> Field:
        return Field(self.model.scheme_title(name), scheme=name)

    def _present(self, entity: str, metrics: Sequence[ShownMetric]) -> list[ShownMetric]:
        """Those that any run has: imported logs tell less."""
        known = {(kind, name) for group in self.by_scheme for kind, _, name in group.values}
        return [metric for metric in metrics if (entity, metric.key) in known]


def runs_field(group: Repetitions) -> Field:
    """Return how many runs of a scheme count, and of how many."""
    note = "identical" if group.identical else f"of {group.runs}" if group.good != group.runs else ""
    return Field(str(group.good), note, group.good)


def _of_flow(run: RunEntry, flow: FlowStats, metric: ShownMetric) -> Field:
    """A metric of one flow of a run, with what its clocks leave open."""
    return metric.single(value_of(flow, metric.key), run.interval("flow", flow["flow"], metric.key))


def run_flows(model: ReportModel, run: RunEntry) -> Table:
    """The flows of one run in the corrected convention, and their senders' counters."""
    metrics = _of_rows(run.flows, (*CORRECTED, *SENDER))
    rows = tuple(
        (
            Field(str(flow["flow"]), sort=flow["flow"]),
            Field(model.scheme_title(flow.get("scheme") or run.scheme)),
            *(_of_flow(run, flow, metric) for metric in metrics),
        )
        for flow in run.flows
    )
    return Table("", groups(2, metrics), ("flow", "scheme", *(metric.heading for metric in metrics)), rows, "ll")


def run_media(model: ReportModel, run: RunEntry) -> Table | None:
    """The live sources of one run, if there are any."""
    rows = tuple(
        (
            Field(str(flow["flow"]), sort=flow["flow"]),
            Field(model.scheme_title(flow.get("scheme") or run.scheme)),
            *(_of_flow(run, flow, metric) for metric in MEDIA),
        )
        for flow in run.flows
        if flow.get("media")
    )
    columns = ("flow", "scheme", *(metric.heading for metric in MEDIA))
    return Table("", groups(2, MEDIA), columns, rows, "ll") if rows else None


def run_links(run: RunEntry) -> Table:
    """The links of one run."""
    metrics = _of_rows(run.links, LINK)
    rows = tuple(
        (Field(str(link["link"])), *(metric.single(value_of(link, metric.key)) for metric in metrics))
        for link in run.links
    )
    return Table("", (), ("link", *(metric.heading for metric in metrics)), rows)


def run_list(model: ReportModel, runs: Sequence[tuple[RunEntry, str]]) -> Table:
    """Runs, each with a reason."""
    rows = tuple(
        (
            Field(model.scheme_title(run.scheme), scheme=run.scheme),
            Field(f"run {run.number}"),
            Field(run.path),
            Field(run.status),
            Field(reason),
        )
        for run, reason in runs
    )
    return Table("", (), ("scheme", "run", "path", "status", "reason"), rows, "llllw")


def definitions_table() -> Table:
    """How each metric is computed."""
    return Table.of(_DEFINED, ([each[key] for key in _DEFINED] for each in definitions()), "llllww")


def _of_rows(rows: Sequence[Mapping[str, Any]], metrics: Sequence[ShownMetric]) -> list[ShownMetric]:
    return [metric for metric in metrics if any(row.get(metric.key) is not None for row in rows)]


def run_totals(run: RunEntry) -> list[tuple[str, str]]:
    """What a run says about all its flows together, beside Pantheon's statistics: (name, value with unit)."""
    shown = [
        (CORRECTED[0], "goodput, corrected", " Mbit/s"),
        (CORRECTED[1], "packet loss, corrected", " %"),
        (ShownMetric("owd_p95_ms", ""), "95th %ile delay, corrected", " ms"),
    ]
    if len(run.flows) > 1:
        shown += [(metric, metric.heading, "") for metric in FAIRNESS]
    values = [(metric, name, unit, value_of(run.network, metric.key)) for metric, name, unit in shown]
    found = []
    for metric, name, unit, value in values:
        if value is not None:
            clocks = clocks_text(run.interval("network", 0, metric.key), metric.number)
            found.append((name, f"{metric.number(value)}{unit}{f' ({clocks})' if clocks else ''}"))
    found += [("clocks", run.clocks.in_words())] if run.clocks else []
    return found + network_rows(run.content)
