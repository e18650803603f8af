"""A path in one line: `--rate 20mbit --rtt 40ms --queue 1bdp`, in the words of tc and mahimahi."""

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
"""What `--aqm` can be."""

AQM_QUEUE = "1000p"
"""Length of a queue with an AQM unless given: CoDel's and PIE's in Linux (Linux v5.15, sch_codel.c, sch_pie.c)."""

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
"""The words: an example of each, and what it means."""


@dataclass
class _Made:
    """What is said of a path as it is put together: in its name, to a person, and as words that make it again."""

    name: list[str] = field(default_factory=list)
    title: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def say(self, option: str, value: str, title: str, mark: str = "") -> None:
        """One more option; `mark` stands before its value in the name."""
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
    """A path from a few words, as `dumbbell run --rate 20mbit --rtt 40ms --queue 1bdp` makes it.

    Args:
        rate: of the bottleneck in the data direction: `20mbit`, `20Mbps`, `500kbit`, `1gbit`. ACKs meet no link without
            `rate_down`, to which the command `dumbbell emulate` gives the same value unless told otherwise.
        rate_up: the same as `rate`, which is instead of it.
        rate_down: of a link in the ACK direction, with a queue of its own.
        rtt: base RTT, half of it in each direction: `40ms`, `500us`, `0.3s`.
        queue: its length before each link: `100p` (packets), `150kB` (bytes), `200ms` (rate times this, in packets of
            1500 bytes) or `1bdp` (rate times base RTT). Without it 1 BDP, with an `aqm` 1000 packets, else with a trace
            no limit.
        loss: share of the data packets that is lost at random behind the bottleneck: `0.1%`.
        aqm: discipline of the queues instead of drop-tail: `codel`, `fq-codel`, `pie`, ..., `-ecn` behind it marks.
        jitter: the one-way delay of data varies uniformly by so much, up and down; order is kept.
        delay: one-way delay of each direction, instead of `rtt`.
        trace: mahimahi's files of delivery opportunities UP or UP,DOWN, instead of `rate`; one alone serves both.

    Its name follows from the words, so that the same words name the same path.

    Raises:
        dumbbell.Error: a value that is not allowed, or words that contradict each other.
    """
    made = _Made()
    links = _links(rate, rate_up, rate_down, trace, made)
    one_way = _one_way(rtt, delay)
    if one_way:
        made.say("rtt", f"{short(2 * one_way)}ms", f"RTT {short(2 * one_way)} ms")
    before = _queue(queue, aqm, links, one_way, made)
    data, ack = [each | before for each in links[:1]], [each | before for each in links[1:]]
    if rate_down is not None:  # the length in BDPs is one of this link's own rate
        ack = [each | _queue(queue, aqm, [each], one_way, _Made()) for each in links[1:]]
    wait = [{"kind": "delay", "delay_ms": float(one_way)}] if one_way else []
    data = [*data, *_lost(loss, made), *(_varied(jitter, one_way, made) or wait)]
    words = " ".join(made.words)
    return PathModel(
        name="-".join(made.name),
        title=", ".join(made.title),
        provenance=words,
        data=data,
        ack=[*wait, *ack],  # as `mm-delay MS mm-link UP DOWN`: what comes back passes the delay first
        file=words,
    )


def read_path_words(table: TomlTable) -> PathModel:
    """Return the path that the words of a table make: `{ rate = "20mbit", rtt = "40ms" }`.

    Raises:
        UserError: a key that is no word, a value that is not allowed, or words that contradict each other.
    """
    words = {word: table.text(word) for word in OPTIONS if table.has(word)}
    table.finish()
    return make_path(**words)


def _links(
    rate: str | None, rate_up: str | None, rate_down: str | None, trace: str | None, made: _Made
) -> list[Element]:
    """The links of data and, of traces and with `rate_down`, of ACKs."""
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
        same = down == mbps
        told = f"{short(mbps)} Mbit/s" + ("" if down is None else " each way" if same else " up")
        made.say("rate", _rate_word(mbps), told)
        links = [{"kind": "link", "name": "bottleneck", "rate_mbps": float(mbps)}]
        if down is not None:
            made.say("rate-down", _rate_word(down), "" if same else f"{short(down)} Mbit/s down", "down")
            links.append({"kind": "link", "name": "down", "rate_mbps": float(down)})
        return links
    path = trace_path(str(trace))
    if path is None:
        raise UserError(
            f"allowed are files UP or UP,DOWN: there is no file {str(trace).split(',')[0]}",
            argument="trace",
            value=trace,
        )
    made.name.append(path.name)
    made.title.append(path.title)
    made.words.append(f"--trace {trace}")
    return [*path.data, *path.ack]


def _rate_word(mbps: Decimal) -> str:
    if mbps >= 1000 and mbps % 1000 == 0:
        return f"{short(mbps / 1000)}gbit"
    return f"{short(mbps)}mbit" if mbps >= 1 else f"{short(mbps * 1000)}kbit"


def _one_way(rtt: str | None, delay: str | None) -> Decimal:
    if rtt is not None and delay is not None:
        both, half = argument("rtt"), argument("delay")
        raise UserError(f"{both} and {half}: allowed is one of them: {half} is half of {both}, in each direction")
    if rtt is not None:
        return delay_ms(rtt, argument("rtt")) / 2
    return Decimal(0) if delay is None else delay_ms(delay, argument("delay"))


def _queue(queue: str | None, aqm: str | None, links: list[Element], one_way: Decimal, made: _Made) -> Queue:
    """What the links have of a queue: nothing where it has no limit and no discipline."""
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
        return {}  # as of mm-link
    limit = _limit(queue or ("1bdp" if name is None else AQM_QUEUE), links[0], one_way, made)
    if name is not None:
        made.say("aqm", name, name)
    return {"queue": discipline(name or FIFO, limit)}


def _limit(text: str, link: Element, one_way: Decimal, made: _Made) -> dict[str, int]:
    number, counts = queue_length(text, argument("queue"))
    if counts in {"packets", "bytes"}:
        word = f"{short(number)}p" if counts == "packets" else f"{short(number / 1000)}kB"
        made.say("queue", word, f"queue of {short(number)} {counts}")
        return {counts: int(number)}
    if counts == "bdp" and not one_way:
        problem = f"needs {argument('rtt')} or {argument('delay')}: without one the bandwidth-delay product is 0"
        raise UserError(problem, argument="queue", value=text)
    mbps = PathModel(name="link", title="", data=[link]).describe().links[0].rate_mbps
    assert mbps is not None, "a link without limit is none of ours"
    packets = packets_of(number, counts, mbps, float(2 * one_way))
    unit = "ms" if counts == "ms" else "BDP"
    made.say("queue", f"{short(number)}{counts}", f"queue of {packets} packets ({short(number)} {unit})")
    return {"packets": packets}


def _lost(loss: str | None, made: _Made) -> list[Element]:
    share = Decimal(0) if loss is None else percentage(loss, argument("loss"))
    if not share:
        return []
    made.say("loss", f"{short(share)}%", f"{short(share)} % loss", "loss")
    return [{"kind": "loss", "probability": float(share / 100)}]


def _varied(jitter: str | None, one_way: Decimal, made: _Made) -> list[Element]:
    """The delay of data where it varies: its smallest value, and what comes on top."""
    half = Decimal(0) if jitter is None else delay_ms(jitter, argument("jitter"))
    if not half:
        return []
    if half > one_way:
        most = f"at most the one-way delay, {short(one_way)} ms ({argument('rtt')}, {argument('delay')})"
        raise UserError(argument="jitter", value=jitter, allowed=most)
    made.say("jitter", f"{short(half)}ms", f"jitter {short(half)} ms", "jitter")
    varies = {"distribution": "uniform", "mean_ms": float(half), "deviation_ms": float(half)}
    least = one_way - half
    fixed = [{"kind": "delay", "delay_ms": float(least)}] if least else []
    return [{"kind": "jitter", **varies}, *fixed]
