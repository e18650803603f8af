"""A path in one line: `--rate 20mbit --rtt 40ms --queue 1bdp`, with the units of tc and mahimahi."""

from dataclasses import dataclass, field
from decimal import Decimal

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.grids.queues import FIFO, NAMES, discipline
from dumbbell.catalog.open_tables import Element, Queue
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.quantities import delay_ms, percentage, queue_length, rate_mbps, short
from dumbbell.catalog.queue_lengths import packets_of
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.catalog.traces import trace_path

AQMS = tuple(name for name in NAMES if name != FIFO)
"""Values of `--aqm`."""

AQM_QUEUE = "1000p"
"""Default length of a queue with an AQM: that of CoDel and PIE in Linux (Linux v5.15, sch_codel.c, sch_pie.c)."""

OPTIONS = {
    "rate": ("20mbit", "rate of the bottleneck: kbit, mbit, gbit, or Mbps; for data, with `emulate` each way"),
    "rate_up": ("20mbit", "the same, for data alone: what the sender's end sends"),
    "rate_down": ("50mbit", "rate of a link in the other direction: ACKs and downloads; none unless given"),
    "trace": ("UP[,DOWN]", "delivery opportunities of both directions instead of a rate: mahimahi's files"),
    "rtt": ("40ms", "base RTT, half of it in each direction"),
    "delay": ("20ms", "the same, given as the one-way delay of each direction"),
    "queue": (
        "1bdp",
        "queue before each link: 100p (packets), 150kB, 200ms or 1bdp (default; with --aqm 1000p, of traces no limit)",
    ),
    "aqm": ("codel", "discipline of those queues instead of drop-tail"),
    "loss": ("0.1%", "share of the data packets that is lost at random"),
    "jitter": ("2ms", "one-way delay of data varies by so much, up and down; order is kept"),
}
"""An example and the meaning of each option."""


@dataclass
class _PathText:
    """Texts of a path that is being built: parts of its name, of its title, and the options that make it again."""

    name: list[str] = field(default_factory=list)
    title: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def say(self, option: str, value: str, title: str, mark: str = "") -> None:
        """Add an option; in the name, `mark` is put before its value."""
        self.name.append(f"{mark}{value.removesuffix('%')}")
        self.title += [title] if title else []
        self.words.append(f"--{option} {value}")


def make_path(
    *,
    rate: str | None = None,
    rate_up: str | None = None,
    rate_down: str | None = None,
    rtt: str | None = None,
    queue: str | None = None,
    loss: str | None = None,
    aqm: str | None = None,
    jitter: str | None = None,
    delay: str | None = None,
    trace: str | None = None,
) -> PathModel:
    """Return a path from a few options, as `dumbbell run --rate 20mbit --rtt 40ms --queue 1bdp` does.

    Args:
        rate: Rate of the bottleneck in the data direction: `20mbit`, `20Mbps`, `500kbit`, `1gbit`. Without
            `rate_down` ACKs pass no link; for `dumbbell emulate` the default of `rate_down` is `rate`.
        rate_up: Rate of the bottleneck in the data direction, instead of `rate`.
        rate_down: Rate of a link in the ACK direction, which has its own queue.
        rtt: Base RTT, half of it in each direction: `40ms`, `500us`, `0.3s`.
        queue: Length of the queue before each link: `100p` (packets), `150kB` (bytes), `200ms` (at the rate, in packets
            of 1500 bytes) or `1bdp` (rate times base RTT). Default: 1 BDP; with an `aqm` 1000 packets; else with a
            trace no limit.
        loss: Share of the data packets that is lost at random after the bottleneck: `0.1%`.
        aqm: Discipline of the queues instead of drop-tail: `codel`, `fq-codel`, `pie`, ...; with `-ecn` it marks.
        jitter: Maximum deviation of the data's one-way delay, which varies uniformly; the order is kept.
        delay: One-way delay of each direction, instead of `rtt`.
        trace: Mahimahi's files of delivery opportunities UP or UP,DOWN, instead of `rate`; one file serves both.

    The name of the path follows from the options: equal options give equal names.

    Raises:
        dumbbell.Error: If a value is not allowed, or options contradict each other.
    """
    text = _PathText()
    links = _links(rate, rate_up, rate_down, trace, text)
    one_way = _one_way(rtt, delay)
    if one_way:
        text.say("rtt", f"{short(2 * one_way)}ms", f"RTT {short(2 * one_way)} ms")
    before = _queue(queue, aqm, links, one_way, text)
    data, ack = [link | before for link in links[:1]], [link | before for link in links[1:]]
    if rate_down is not None:  # a length in BDP refers to this link's own rate
        ack = [link | _queue(queue, aqm, [link], one_way, _PathText()) for link in links[1:]]
    wait = [{"kind": "delay", "delay_ms": float(one_way)}] if one_way else []
    data = [*data, *_lost(loss, text), *(_varied(jitter, one_way, text) or wait)]
    words = " ".join(text.words)
    return PathModel(
        name="-".join(text.name),
        title=", ".join(text.title),
        provenance=words,
        data=data,
        ack=[*wait, *ack],  # as for `mm-delay MS mm-link UP DOWN`: packets on the way back pass the delay first
        file=words,
    )


def read_path_words(table: TomlTable) -> PathModel:
    """Return the path for a table of path options: `{ rate = "20mbit", rtt = "40ms" }`.

    Raises:
        UserError: If a key or value is not allowed, or options contradict each other.
    """
    words = {word: table.text(word) for word in OPTIONS if table.has(word)}
    table.finish()
    return make_path(**words)


def _links(
    rate: str | None, rate_up: str | None, rate_down: str | None, trace: str | None, text: _PathText
) -> list[Element]:
    """Return the link of data; for traces and with `rate_down` also the link of ACKs."""
    if rate is not None and rate_up is not None:
        raise UserError(f"{argument('rate')} and {argument('rate_up')}: allowed is one of them")
    up, name = (rate, "rate") if rate_up is None else (rate_up, "rate_up")
    if (up is None) == (trace is None):
        rate_word, example = argument("rate"), f"{argument('rtt')} 40ms"
        raise UserError(
            f"a path in one line needs one of {rate_word} and {argument('trace')}, like {rate_word} 20mbit {example}"
        )
    if up is None and rate_down is not None:
        trace_word = argument("trace")
        problem = f"not with {trace_word}, whose second file is that direction: {trace_word} UP,DOWN"
        raise UserError(problem, argument="rate_down")
    if up is not None:
        mbps = rate_mbps(up, argument(name))
        down = None if rate_down is None else rate_mbps(rate_down, argument("rate_down"))
        is_equal = down == mbps
        rate_title = f"{short(mbps)} Mbit/s" + ("" if down is None else " each way" if is_equal else " up")
        text.say("rate", _rate_word(mbps), rate_title)
        links = [{"kind": "link", "name": "bottleneck", "rate_mbps": float(mbps)}]
        if down is not None:
            text.say("rate-down", _rate_word(down), "" if is_equal else f"{short(down)} Mbit/s down", "down")
            links.append({"kind": "link", "name": "down", "rate_mbps": float(down)})
        return links
    path = trace_path(str(trace))
    if path is None:
        raise UserError(
            f"allowed are files UP or UP,DOWN: there is no file {str(trace).split(',')[0]}",
            argument="trace",
            value=trace,
        )
    text.name.append(path.name)
    text.title.append(path.title)
    text.words.append(f"--trace {trace}")
    return [*path.data, *path.ack]


def _rate_word(mbps: Decimal) -> str:
    if mbps >= 1000 and mbps % 1000 == 0:
        return f"{short(mbps / 1000)}gbit"
    return f"{short(mbps)}mbit" if mbps >= 1 else f"{short(mbps * 1000)}kbit"


def _one_way(rtt: str | None, delay: str | None) -> Decimal:
    if rtt is not None and delay is not None:
        rtt_word, half = argument("rtt"), argument("delay")
        raise UserError(
            f"{rtt_word} and {half}: allowed is one of them: {half} is half of {rtt_word}, in each direction"
        )
    if rtt is not None:
        return delay_ms(rtt, argument("rtt")) / 2
    return Decimal(0) if delay is None else delay_ms(delay, argument("delay"))


def _queue(queue: str | None, aqm: str | None, links: list[Element], one_way: Decimal, text: _PathText) -> Queue:
    """Return the queue of the links; empty without a limit and a discipline."""
    name = None if aqm is None else aqm.lower().replace("_", "-")
    if name is not None and name not in AQMS:
        raise UserError(argument="aqm", value=aqm, allowed=AQMS)
    if queue is None and name is not None and name.startswith("red"):
        problem = f"needs {argument('queue')}: its thresholds are a quarter and three quarters of that"
        raise UserError(problem, argument="aqm", value=aqm)
    if queue is None and name is None and "rate_mbps" in links[0] and not one_way:
        problem = f"needs {argument('rtt')}, of which the length of the queue follows (1 BDP), or {argument('queue')}"
        raise UserError(problem, argument="rate")
    if queue is None and name is None and "rate_mbps" not in links[0]:
        return {}  # as for mm-link
    limit = _limit(queue or ("1bdp" if name is None else AQM_QUEUE), links[0], one_way, text)
    if name is not None:
        text.say("aqm", name, name)
    return {"queue": discipline(name or FIFO, limit)}


def _limit(text: str, link: Element, one_way: Decimal, path_text: _PathText) -> dict[str, int]:
    number, counts = queue_length(text, argument("queue"))
    if counts in {"packets", "bytes"}:
        word = f"{short(number)}p" if counts == "packets" else f"{short(number / 1000)}kB"
        path_text.say("queue", word, f"queue of {short(number)} {counts}")
        return {counts: int(number)}
    if counts == "bdp" and not one_way:
        problem = f"needs {argument('rtt')} or {argument('delay')}: without one the bandwidth-delay product is 0"
        raise UserError(problem, argument="queue", value=text)
    mbps = PathModel(name="link", title="", data=[link]).describe().links[0].rate_mbps
    assert mbps is not None, "a link without limit is none of ours"
    packets = packets_of(number, counts, mbps, float(2 * one_way))
    unit = "ms" if counts == "ms" else "BDP"
    path_text.say("queue", f"{short(number)}{counts}", f"queue of {packets} packets ({short(number)} {unit})")
    return {"packets": packets}


def _lost(loss: str | None, text: _PathText) -> list[Element]:
    share = Decimal(0) if loss is None else percentage(loss, argument("loss"))
    if not share:
        return []
    text.say("loss", f"{short(share)}%", f"{short(share)} % loss", "loss")
    return [{"kind": "loss", "probability": float(share / 100)}]


def _varied(jitter: str | None, one_way: Decimal, text: _PathText) -> list[Element]:
    """Return the elements for jitter: the jitter, and the constant part of the delay."""
    half = Decimal(0) if jitter is None else delay_ms(jitter, argument("jitter"))
    if not half:
        return []
    if half > one_way:
        maximum = f"at most the one-way delay, {short(one_way)} ms ({argument('rtt')}, {argument('delay')})"
        raise UserError(argument="jitter", value=jitter, allowed=maximum)
    text.say("jitter", f"{short(half)}ms", f"jitter {short(half)} ms", "jitter")
    varies = {"distribution": "uniform", "mean_ms": float(half), "deviation_ms": float(half)}
    constant = one_way - half
    fixed = [{"kind": "delay", "delay_ms": float(constant)}] if constant else []
    return [{"kind": "jitter", **varies}, *fixed]
