"""Tables of a report, as rows of text that the HTML and PDF forms share."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from dumbbell.base.conventions import CORRECTED as CORRECTED_CONVENTION, MainMetric
from dumbbell.base.digits import decimal
from dumbbell.core.metrics import metric_definitions
from dumbbell.present.model.captions import starts_sentence
from dumbbell.present.model.content import ReportModel, RunEntry
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
    """Column of a metric: key in the statistics, heading, factor to the shown unit, decimals, heading above."""

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
        """Return the field of one value; `interval` contains the true value, if two clocks measured it."""
        note = clocks_text(interval, self.number)
        return Field(NO_DATA) if value is None else Field(self.number(value), note, sort=value)

    def mean(self, estimate: Estimate | None) -> Field:
        """Return the field of a mean with its interval."""
        if estimate is None:
            return Field("N/A")
        is_mean_of_counts = self.decimals == 0 and estimate.count > 1 and estimate.bounds != "equal"
        decimals = 1 if is_mean_of_counts else self.decimals  # a mean of counts is not a whole number
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


def groups(names: int, metrics: Sequence[ShownMetric]) -> tuple[tuple[str, int], ...]:
    """Return the headings above the columns: none above the names, then one for each stretch of equal groups."""
    headings = [("", names)]
    for group, members in itertools.groupby(metrics, lambda metric: metric.group):
        headings.append((group, len(list(members))))
    return tuple(headings)


_PANTHEON_RULES = "Pantheon convention: whole log, sizes with overhead, packets under way at the end are lost."


def corrected_rules(warmup_s: float) -> str:
    """Return the rules of the corrected convention."""
    return (
        f"Corrected convention: payload only, without the first {warmup_s:.3g} s and without packets under way at the "
        "end. One-way delays with percentiles."
    )


class PathTables:
    """Tables of one path."""

    def __init__(self, model: ReportModel, path: str) -> None:
        self.model = model
        self.runs = model.of(path)
        self.flows = max((len(run.flows) for run in self.runs), default=0) or model.flows
        self.by_scheme = [
            model.groups.get((path, scheme.name), Repetitions(path, scheme.name)) for scheme in model.schemes
        ]

    def all(self) -> list[tuple[str, Table]]:
        """Return every table of the path that has numbers, with its heading; Pantheon's comes first."""
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
        """Return Pantheon's table: means per scheme and flow, and over all flows if there are several.

        If flows of a run are of different schemes, every flow has a row, since such flows share no columns.
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
        """Return the share of each flow in runs of several flows, by the model's convention."""
        convention = self.model.convention
        alone = {(group.path, group.scheme): group for group in self.by_scheme}
        group_shares = [(group, share) for group in self.by_scheme for share in shares(group, convention, alone)]
        metrics = (
            ShownMetric("payload_share", "share (%)", 100.0, 1),
            *(
                replace(ShownMetric.of(metric, convention.label), key=key)
                for metric, key in zip(
                    convention.metrics, ("throughput_mbps", "delay_p95_ms", "loss_rate"), strict=True
                )
            ),
        )
        harm = ShownMetric("harm", "harm (%)", 100.0, 1)
        harm_columns = [harm] if any(share.harms is not None for _, share in group_shares) else []
        rows = [
            (
                self._scheme(group.scheme),
                Field(self._who(share)),
                Field(f"{100 * share.fair:.1f}", sort=share.fair),
                *(metric.mean(getattr(share, metric.key)) for metric in metrics),
                *(harm.mean(share.harms) for harm in harm_columns),
            )
            for group, share in group_shares
        ]
        columns = ("flows of", "who", "fair share (%)", *(metric.heading for metric in (*metrics, *harm_columns)))
        caption = self._caption(
            f"Share of the payload, {self._share_time([group for group, _ in group_shares])}; the fair share is the "
            "same for every flow."
            + f" {starts_sentence(self.model.interval_s)}".rstrip()
            + (" Harm: the part of the throughput alone that is lost beside the others." if harm_columns else "")
        )
        return Table(caption, groups(3, (*metrics, *harm_columns)), columns, tuple(rows), "ll")

    def _share_time(self, share_groups: Sequence[Repetitions]) -> str:
        """Return the time in which shares are counted, for the caption."""
        if self.model.convention is not CORRECTED_CONVENTION:
            return "without the warm-up"
        times = [competing_text(group) for group in share_groups]
        if not all(times):
            return "after the warm-up or, where that is known, while all flows compete"
        return competing_heading(times)

    def _who(self, share: Share) -> str:
        """Return the name of a row, with the title of its scheme if the row is named after its scheme."""
        rest = share.name.removeprefix(share.scheme)
        return share.name if rest == share.name else f"{self.model.scheme_title(share.scheme)}{rest}"

    def corrected(self) -> Table:
        """Return goodput, loss and delays by the corrected convention: a row per flow, and one for several together."""
        metrics = self._present("flow", CORRECTED)
        caption = self._caption(corrected_rules(self.model.warmup_s))
        return self._flow_rows(metrics, caption)

    def _flow_rows(self, metrics: Sequence[ShownMetric], caption: str, with_runs: bool = False) -> Table:
        """Return a row for every flow, and one for all flows if there are several."""
        rows = []
        for group in self.by_scheme:
            names = self._flow_names(group)
            keys: list[tuple[str, int]] = [("flow", number) for number in range(1, len(names) + 1)]
            if len(names) > 1:
                keys.append(("network", 0))
            for entity, number in keys:
                name = names[number - 1] if number else "all"
                flow_field = (Field(name, sort=number or self.flows + 1),) if self.flows > 1 else ()
                values = [metric.mean(group.estimate((entity, number, metric.key))) for metric in metrics]
                count = (runs_field(group),) if with_runs else ()
                rows.append((self._scheme(group.scheme), *flow_field, *count, *values))
        columns = ["scheme", "flow"] if self.flows > 1 else ["scheme"]
        texts = len(columns)
        columns += [_RUNS] if with_runs else []
        above = groups(len(columns), metrics)
        return Table(caption, above, (*columns, *(metric.heading for metric in metrics)), tuple(rows), "l" * texts)

    def _flow_names(self, group: Repetitions) -> list[str]:
        """Return the names of a group's flows: titles of their schemes if these differ, otherwise numbers."""
        schemes = flow_schemes(group)
        if not schemes:
            count = max((len(flows) for flows in group.flows), default=self.flows)
            return [str(number) for number in range(1, count + 1)]
        return flow_names([self.model.scheme_title(scheme) for scheme in schemes])

    def media(self) -> Table:
        """Return the media metrics of live sources, with a row for every such flow."""
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
        """Return fairness, the bottleneck link, and the sender's state."""
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
        """Return the transfers of each flow of each run at both ends, with the extreme intervals."""
        rows = [row for run in self.runs for row in self._transfer_rows(run)]
        all_transfers = [run.transfers for run in self.runs if run.transfers]
        interval_s = next((transfers.interval_s for transfers in all_transfers), 1.0)
        content = "payload" if all(transfers.payload for transfers in all_transfers) else "packets with their headers"
        caption = (
            f"KBytes are 1024 bytes of {content}. Client: when it entered the path; server: when it arrived; each byte "
            f"counts once, by the copy that got through. First, least and most are intervals of {interval_s:.10g} s; "
            "least and most leave out the first and any shorter one. The rows of every interval are with each run."
        )
        groups = (("", 3), ("client", 2), ("server", 2), ("server, per interval (KBytes/s)", 3))
        columns = ("scheme", "run", "flow", *("KBytes", "KBytes/s") * 2, "first", "least", "most")
        return Table(caption, groups, columns, tuple(rows), "lll")

    def _transfer_rows(self, run: RunEntry) -> list[tuple[Field, ...]]:
        transfers = run.transfers
        if transfers is None:
            return []
        clients = {row.flow: row for row in transfers.of("client", total=True)}
        rows = []
        for server in transfers.of("server", total=True):
            client = clients.get(server.flow)
            intervals = [row for row in transfers.of("server", total=False) if row.flow == server.flow]
            full_intervals = [row for row in intervals[1:] if row.end_s - row.start_s > 0.999 * transfers.interval_s]
            rates = [row.kbytes_per_s for row in full_intervals]
            name = Field(SUM, sort=self.flows + 1) if server.flow is None else Field(str(server.flow), sort=server.flow)
            client_values = [client.kbytes, client.kbytes_per_s] if client else [None, None]
            values = [*client_values, server.kbytes, server.kbytes_per_s]
            extremes = [intervals[0].kbytes_per_s, min(rates, default=None), max(rates, default=None)]
            amounts = [_AMOUNT.single(value) for value in (*values, *extremes)]
            rows.append((self._scheme(run.scheme), self._run(run), name, *amounts))
        return rows

    def lateness(self) -> Table:
        """Return the lateness of the emulated packets, run by run."""
        rows = []
        for run in self.runs:
            if run.emulation is None:
                continue
            late = run.emulation["lateness_us"]
            number = Field(str(run.number), sort=run.number)
            delays = (late["p50"], late["p90"], late["p99"], late["p999"], late["max"], late["bound"])
            numbers = [Field(f"{value:,}", sort=value) for value in (late["packets"], *delays)]
            lost_packets = run.emulation["tx_dropped"] + run.emulation.get("socket_dropped", 0)
            attempts = run.content.get("attempts", 1)
            end = run.emulation.get("ends_latest_us")
            waits = [flow_end["wait_p99_us"] for flow_end in run.emulation.get("ends", ())]
            numbers += [
                Field(NO_DATA) if value is None else Field(f"{value:,}", sort=value)
                for value in (end, max(waits, default=None))
            ]
            other_fields = [Field(f"{value:,}", sort=value) for value in (lost_packets, attempts)]
            priority = run.emulation.get("real_time")
            other_fields.append(Field(NO_DATA if priority is None else "yes" if priority else "no"))
            rows.append((self._scheme(run.scheme), number, Field(run.status), *numbers, *other_fields))
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
        """Return a caption: the rules of the numbers, and the legend of their intervals."""
        clocks = any(group.shifts for group in self.by_scheme)
        return f"{rules} {bounds_legend(max((group.good for group in self.by_scheme), default=0), clocks)}".strip()

    def _scheme(self, name: str) -> Field:
        return Field(self.model.scheme_title(name), scheme=name)

    def _present(self, entity: str, metrics: Sequence[ShownMetric]) -> list[ShownMetric]:
        """Return the metrics that any run has: imported logs lack some."""
        keys = {(kind, name) for group in self.by_scheme for kind, _, name in group.values}
        return [metric for metric in metrics if (entity, metric.key) in keys]


def runs_field(group: Repetitions) -> Field:
    """Return the number of runs of a scheme that count, with the total if some do not."""
    note = "identical" if group.identical else f"of {group.runs}" if group.good != group.runs else ""
    return Field(str(group.good), note, group.good)


def _flow_field(run: RunEntry, flow: FlowStats, metric: ShownMetric) -> Field:
    """Return the field of a metric of one flow, with its interval if two clocks measured it."""
    return metric.single(value_of(flow, metric.key), run.interval("flow", flow["flow"], metric.key))


def run_flows(model: ReportModel, run: RunEntry) -> Table:
    """Return the flows of one run by the corrected convention, and their senders' counters."""
    metrics = _metrics_with_values(run.flows, (*CORRECTED, *SENDER))
    rows = tuple(
        (
            Field(str(flow["flow"]), sort=flow["flow"]),
            Field(model.scheme_title(flow.get("scheme") or run.scheme)),
            *(_flow_field(run, flow, metric) for metric in metrics),
        )
        for flow in run.flows
    )
    return Table("", groups(2, metrics), ("flow", "scheme", *(metric.heading for metric in metrics)), rows, "ll")


def run_media(model: ReportModel, run: RunEntry) -> Table | None:
    """Return the live sources of one run, or None if it has none."""
    rows = tuple(
        (
            Field(str(flow["flow"]), sort=flow["flow"]),
            Field(model.scheme_title(flow.get("scheme") or run.scheme)),
            *(_flow_field(run, flow, metric) for metric in MEDIA),
        )
        for flow in run.flows
        if flow.get("media")
    )
    columns = ("flow", "scheme", *(metric.heading for metric in MEDIA))
    return Table("", groups(2, MEDIA), columns, rows, "ll") if rows else None


def run_links(run: RunEntry) -> Table:
    """Return the links of one run."""
    metrics = _metrics_with_values(run.links, LINK)
    rows = tuple(
        (Field(str(link["link"])), *(metric.single(value_of(link, metric.key)) for metric in metrics))
        for link in run.links
    )
    return Table("", (), ("link", *(metric.heading for metric in metrics)), rows)


def run_list(model: ReportModel, runs: Sequence[tuple[RunEntry, str]]) -> Table:
    """Return a table of runs, each with a reason."""
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
    """Return the definitions of all metrics."""
    return Table.of(
        _DEFINED, ([dict(definition)[key] for key in _DEFINED] for definition in metric_definitions()), "llllww"
    )


def _metrics_with_values(rows: Sequence[Mapping[str, object]], metrics: Sequence[ShownMetric]) -> list[ShownMetric]:
    return [metric for metric in metrics if any(row.get(metric.key) is not None for row in rows)]


def run_totals(run: RunEntry) -> list[tuple[str, str]]:
    """Return values over all flows of a run, beside Pantheon's statistics, as (name, value with unit)."""
    metrics = [
        (CORRECTED[0], "goodput, corrected", " Mbit/s"),
        (CORRECTED[1], "packet loss, corrected", " %"),
        (ShownMetric("owd_p95_ms", ""), "95th %ile delay, corrected", " ms"),
    ]
    if len(run.flows) > 1:
        metrics += [(metric, metric.heading, "") for metric in FAIRNESS]
    values = [(metric, name, unit, value_of(run.network, metric.key)) for metric, name, unit in metrics]
    totals = []
    for metric, name, unit, value in values:
        if value is not None:
            clocks = clocks_text(run.interval("network", 0, metric.key), metric.number)
            totals.append((name, f"{metric.number(value)}{unit}{f' ({clocks})' if clocks else ''}"))
    totals += [("clocks", run.clocks.in_words())] if run.clocks else []
    return totals + network_rows(run.content)
