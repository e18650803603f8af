"""The axes of grids. Each is a function that changes the path and the flows of a cell.

An axis reads its value from a table of the experiment file, which checks each value and names its key in errors. A
value that is a table (`step`, `versus`, ...) has keys of its own. If an axis adds flows, elements or changes, `grows`
declares their number, so that the size of a grid is known before its cells exist.
"""

from collections.abc import Callable
from dataclasses import replace

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.grids.queues import NAMES, discipline
from dumbbell.catalog.grids.size import MOST_CHANGES, Size
from dumbbell.catalog.open_tables import Element, Transport
from dumbbell.catalog.toml_tables import TomlTable

MOST_FLOWS = 10_000

Change = Callable[[Cell, TomlTable], Cell]
AXES: dict[str, Change] = {}
Growth = Callable[[Size, TomlTable], Size]
GROWTHS: dict[str, Growth] = {}


def axis(function: Change) -> Change:
    """Make a function an axis, under its own name."""
    AXES[function.__name__] = function
    return function


def grows(growth: Growth) -> Callable[[Change], Change]:
    """Declare the number of flows, elements and changes that an axis adds to a cell, exactly or as an upper bound."""

    def register(change: Change) -> Change:
        GROWTHS[change.__name__] = growth
        return change

    return register


def find(name: str, table: TomlTable) -> Change:
    """Return the axis called `name`.

    Raises:
        UserError: If there is no such axis; the message has the closest name.
    """
    if name not in AXES:
        raise UserError(
            f"{table.source}: unknown axis `{table.prefix}{name}`{nearest(name, AXES)}: allowed are {listed(AXES)}"
        )
    return AXES[name]


def _repeated(flows: tuple[FlowPlan, ...], count: int) -> tuple[FlowPlan, ...]:
    return tuple(flow for template in flows for flow in [template] * (1 if template.scheme else count))


def _count(key: str) -> Callable[[TomlTable], int]:
    return lambda value: value.integer(key, minimum=1, maximum=MOST_FLOWS)


@axis
@grows(lambda size, value: size.with_flows(tested_flows=size.tested_flows * _count("k")(value)))
def k(cell: Cell, value: TomlTable) -> Cell:
    """Number of flows of the scheme under test; the path stays (ccperf: `k`)."""
    return replace(cell, flows=_repeated(cell.flows, _count("k")(value)))


@axis
@grows(lambda size, value: size.with_flows(tested_flows=size.tested_flows * _count("k_scaled")(value)))
def k_scaled(cell: Cell, value: TomlTable) -> Cell:
    """Number of flows, the bottleneck's rate and its queue times as many (ccperf's `static.default` with `k`)."""
    count = _count("k_scaled")(value)
    link = cell.bottleneck
    queue = dict(link.get("queue", {}))
    for key in ("packets", "bytes"):
        if key in queue:
            queue[key] *= count
    changes: Element = {"queue": queue} if queue else {}
    if "rate_mbps" not in link:
        raise value.fail("k_scaled", count, f"only a path with a bottleneck of constant rate, not `{cell.path.name}`")
    cell = cell.with_bottleneck(rate_mbps=float(link["rate_mbps"]) * count, **changes)
    return replace(cell, flows=_repeated(cell.flows, count))


@axis
@grows(lambda size, value: size.with_flows(tested_flows=max(size.tested_flows, len(value.values("rtts")))))
def rtts(cell: Cell, value: TomlTable) -> Cell:
    """Base RTTs, ms, one per flow under test (ccperf: `rtts`); the path gets the smallest, flows the rest."""
    values = value.numbers("rtts", minimum=0.0)
    cell = cell.with_rtt(min(values))
    own_indices = [index for index, flow in enumerate(cell.flows) if not flow.scheme]
    if len(own_indices) == 1:
        cell = replace(cell, flows=_repeated(cell.flows, len(values)))
        own_indices = [index for index, flow in enumerate(cell.flows) if not flow.scheme]
    if len(own_indices) != len(values):
        raise value.fail("rtts", values, f"as many values as flows under test: {len(own_indices)}")
    flows = list(cell.flows)
    for index, rtt in zip(own_indices, values, strict=True):
        flows[index] = replace(flows[index], rtt_ms=rtt)
    return replace(cell, flows=tuple(flows))


@axis
def start_gap_s(cell: Cell, value: TomlTable) -> Cell:
    """Time between the starts of the flows under test."""
    gap = value.number("start_gap_s", minimum=0.0)
    flows, started_count = [], 0
    for flow in cell.flows:
        flows.append(flow if flow.scheme else replace(flow, start_s=flow.start_s + started_count * gap))
        started_count += not flow.scheme
    return replace(cell, flows=tuple(flows))


@axis
def bytes(cell: Cell, value: TomlTable) -> Cell:
    """Bytes that each flow under test transfers (ccperf: `Greedy(bytes)`)."""
    size = value.integer("bytes", minimum=1)
    return cell.with_ours(lambda flow: replace(flow, application={"kind": "fixed", "bytes": size}))


@axis
def bw_factor(cell: Cell, value: TomlTable) -> Cell:
    """Factor of the bottleneck's rate; the queue keeps its length in packets."""
    factor = value.number("bw_factor", minimum=1e-3, maximum=1e3)
    rate = cell.bottleneck.get("rate_mbps")
    if rate is None:
        raise value.fail("bw_factor", factor, f"only a path with a bottleneck of constant rate, not `{cell.path.name}`")
    return cell.with_bottleneck(rate_mbps=float(rate) * factor)


@axis
def rtt_ms(cell: Cell, value: TomlTable) -> Cell:
    """Base RTT, ms."""
    return cell.with_rtt(value.number("rtt_ms", minimum=1e-3, maximum=7.2e6))


@axis
def qlen_bdp(cell: Cell, value: TomlTable) -> Cell:
    """Length of the bottleneck's queue in bandwidth-delay products of the path, in whole packets, at least one."""
    factor = value.number("qlen_bdp", minimum=0.0, maximum=1e3)
    queue = dict(cell.bottleneck.get("queue", {"kind": "droptail"}))
    queue.pop("bytes", None)
    return cell.with_bottleneck(queue=queue | {"packets": max(1, round(factor * cell.bdp_packets))})


@axis
def queue_bytes(cell: Cell, value: TomlTable) -> Cell:
    """Length of the bottleneck's queue in bytes."""
    queue = dict(cell.bottleneck.get("queue", {"kind": "droptail"}))
    queue.pop("packets", None)
    return cell.with_bottleneck(queue=queue | {"bytes": value.integer("queue_bytes", minimum=1)})


@axis
def qdisc(cell: Cell, value: TomlTable) -> Cell:
    """Queue discipline of the bottleneck, with its standard's constants and the present limit in packets."""
    name = value.text("qdisc", choices=NAMES)
    limit = cell.bottleneck.get("queue", {}).get("packets")
    if limit is None:
        raise value.fail("qdisc", name, f"only a path whose queue has a limit in packets, not `{cell.path.name}`")
    return cell.with_bottleneck(queue=discipline(name, {"packets": int(limit)}))


@axis
@grows(lambda size, _: size.with_elements(1))
def loss(cell: Cell, value: TomlTable) -> Cell:
    """Probability with which a data packet is lost at random behind the bottleneck; 0 adds nothing."""
    return _loss(cell, value.number("loss", minimum=0.0, maximum=1.0), "data")


@axis
@grows(lambda size, _: size.with_elements(1))
def loss_before(cell: Cell, value: TomlTable) -> Cell:
    """Probability with which a data packet is lost at random before the path, as netem does it; 0 adds nothing."""
    probability = value.number("loss_before", minimum=0.0, maximum=1.0)
    return cell.with_element({"kind": "loss", "probability": probability}, before=True) if probability else cell


@axis
@grows(lambda size, _: size.with_elements(1))
def ack_loss(cell: Cell, value: TomlTable) -> Cell:
    """Probability with which an ACK is lost at random."""
    return _loss(cell, value.number("ack_loss", minimum=0.0, maximum=1.0), "ack")


@axis
@grows(lambda size, _: size.with_elements(2))
def loss_both_ways(cell: Cell, value: TomlTable) -> Cell:
    """Probability with which a packet is lost at random in either direction, drawn for each."""
    probability = value.number("loss_both_ways", minimum=0.0, maximum=1.0)
    return _loss(_loss(cell, probability, "data"), probability, "ack")


def _loss(cell: Cell, probability: float, direction: str) -> Cell:
    return cell.with_element({"kind": "loss", "probability": probability}, direction) if probability else cell


@axis
@grows(lambda size, _: size.with_changes(2 * (1 + size.links)))
def outage(cell: Cell, value: TomlTable) -> Cell:
    """The bottleneck stands still from `at_s` on for `for_s`, in both directions if `both`."""
    table = value.table("outage")
    at_s, for_s = table.number("at_s", minimum=0.0), table.number("for_s", minimum=0.0)
    is_both = table.flag("both", False)
    table.finish()
    if for_s == 0.0:
        return cell
    rate = cell.bottleneck.get("rate_mbps")
    if rate is None:
        raise table.fail("for_s", for_s, f"only a path with a bottleneck of constant rate, not `{cell.path.name}`")
    cell = cell.with_bottleneck(schedule=_stop(at_s, for_s, float(rate)))
    if not is_both:
        return cell
    ack = list(cell.path.ack)
    for link in (link for link in cell.path.describe().links if link.direction == "ack"):
        if "rate_mbps" in ack[link.element]:
            stop = _stop(at_s, for_s, float(ack[link.element]["rate_mbps"]))
            ack[link.element] = ack[link.element] | {"schedule": stop}
    return replace(cell, path=replace(cell.path, ack=ack))


def _stop(at_s: float, for_s: float, rate_mbps: float) -> list[dict[str, float]]:
    return [{"at_s": at_s, "rate_mbps": 0.0}, {"at_s": at_s + for_s, "rate_mbps": rate_mbps}]


TARGETS = ("rate", "rtt", "loss")


@axis
@grows(lambda size, value: _more_changes(size, value.table("step"), 1))
def step(cell: Cell, value: TomlTable) -> Cell:
    """One change of rate (Mbit/s), RTT (ms) or loss after `period_s` (ccperf: `responsiveness_step`)."""
    table = value.table("step")
    target, lower, upper = _target(table)
    direction = table.text("direction", choices=("up", "down"))
    period_s = table.number("period_s", minimum=1e-3)
    table.finish()
    first, second = (lower, upper) if direction == "up" else (upper, lower)
    return _changing(cell, target, first, [(period_s, second)])


def _pulse(value: TomlTable) -> tuple[str, float, float, float, int]:
    """Return the changed quantity, its lower and upper value, half of the period in s, and the number of changes."""
    table = value.table("pulse")
    target, lower, upper = _target(table)
    period_s, until_s = table.number("period_s", minimum=1e-3), table.number("until_s", 60.0, minimum=0.0, maximum=1e5)
    table.finish()
    halves = int(until_s / (period_s / 2))
    if halves > MOST_CHANGES:
        least_s = 2 * until_s / MOST_CHANGES
        needed_period = (
            f"a number, at least {least_s:g}, for at most {MOST_CHANGES} changes until `until_s` = {until_s:g}"
        )
        raise table.fail("period_s", period_s, needed_period)
    return target, lower, upper, period_s / 2, halves


@axis
@grows(lambda size, value: _more_changes(size, value.table("pulse"), _pulse(value)[-1]))
def pulse(cell: Cell, value: TomlTable) -> Cell:
    """Rate, RTT or loss alternates until `until_s`, `lower` first (ccperf: `responsiveness_pulse_wave`)."""
    target, lower, upper, half_s, halves = _pulse(value)
    changes = [(half * half_s, upper if half % 2 else lower) for half in range(1, halves + 1)]
    return _changing(cell, target, lower, changes)


def _more_changes(size: Size, table: TomlTable, changes: int) -> Size:
    """Return the size after scheduled changes of `target`: of each delay, of one link, or of an additional element."""
    target = table.text("target", choices=TARGETS)
    size = size.with_changes(changes * (size.delays if target == "rtt" else 1))
    return size.with_elements(1) if target == "loss" else size


def _target(table: TomlTable) -> tuple[str, float, float]:
    target = table.text("target", choices=TARGETS)
    maximum = 1.0 if target == "loss" else 1e6
    lower, upper = (
        table.number("lower", minimum=0.0, maximum=maximum),
        table.number("upper", minimum=0.0, maximum=maximum),
    )
    if lower >= upper:
        raise table.fail("lower", lower, f"less than `upper` = {upper:g}")
    return target, lower, upper


def _changing(cell: Cell, target: str, first: float, changes: list[tuple[float, float]]) -> Cell:
    if target == "rate":
        schedule = [{"at_s": at_s, "rate_mbps": rate} for at_s, rate in changes]
        return cell.with_bottleneck(rate_mbps=first, schedule=schedule)
    if target == "rtt":
        return cell.with_rtt(first).with_delay_schedule(changes)
    schedule = [{"at_s": at_s, "probability": probability} for at_s, probability in changes]
    return cell.with_element({"kind": "loss", "probability": first, "schedule": schedule})


@axis
@grows(lambda size, _: size.with_elements(1))
def random_walk(cell: Cell, value: TomlTable) -> Cell:
    """Bounded random walks of rate, delay and loss, with the keys of ccperf's `random_walk`."""
    table = value.table("random_walk")
    interval_ms = table.number("interval_ms", 100.0, minimum=1e-3)
    walks = {}
    for target in ("rate", "delay", "loss"):
        if table.has(f"{target}_min"):
            walks[target] = {
                "corr": table.number(f"{target}_corr_coeff", minimum=0.0, maximum=1.0),
                "std": table.number(f"{target}_noise_std", minimum=0.0),
                "min": table.number(f"{target}_min", minimum=0.0),
                "max": table.number(f"{target}_max", minimum=0.0),
            }
    table.finish()
    if "rate" in walks:
        cell = cell.with_bottleneck(walk={"interval_ms": interval_ms, "rate_mbps": walks["rate"]})
    if "loss" in walks:
        walk = {"interval_ms": interval_ms, "probability": walks["loss"]}
        cell = cell.with_element({"kind": "loss", "probability": 0.0, "walk": walk})
    if "delay" in walks:
        cell = _walking_delay(cell, {"interval_ms": interval_ms, "delay_ms": walks["delay"]})
    return cell


def _walking_delay(cell: Cell, walk: dict[str, object]) -> Cell:
    """Return the cell with a walk of the one-way delay in the data direction; the delay of ACKs is constant."""
    walking = next((delay for delay in cell.path.describe().delays if delay.direction == "data"), None)
    if walking is None:
        raise UserError(
            f"{cell.path.file}: path `{cell.path.name}`: has no delay in the data direction that could walk"
        )
    return cell.with_delays(lambda delay: {"walk": walk} if delay == walking else {})


def _beside(size: Size, value: TomlTable) -> Size:
    factor, other_count = _sides(value.table("versus"))
    return size.with_flows(tested_flows=size.tested_flows * factor, other_flows=size.other_flows + other_count)


def _sides(table: TomlTable) -> tuple[int, int]:
    """Return the factor for the flows under test, and the number of the other scheme's flows."""
    factor = table.integer("ours", 1, minimum=1, maximum=MOST_FLOWS)
    return factor, table.integer("theirs", 1 if table.text("scheme", "") else 0, maximum=MOST_FLOWS)


@axis
@grows(_beside)
def versus(cell: Cell, value: TomlTable) -> Cell:
    """Flows of another scheme beside those under test: `ours` and `theirs`, theirs `start_s` later; none: alone."""
    table = value.table("versus")
    scheme = table.text("scheme", "")
    factor, other_count = _sides(table)
    start_s = table.number("start_s", 0.0, minimum=0.0)
    table.finish()
    flows = _repeated(cell.flows, factor)
    if other_count and not scheme:
        raise table.fail("theirs", other_count, "0 without a `scheme`")
    return replace(cell, flows=flows + (FlowPlan(scheme, start_s=start_s),) * other_count)


@axis
def transport(cell: Cell, value: TomlTable) -> Cell:
    """Keys of the transport of the flows under test that differ, such as a receiver that lies."""
    changes = value.table("transport").raw
    changed_transports: dict[int, Transport] = {}  # flows that shared a transport share the changed one

    def with_changes(flow: FlowPlan) -> FlowPlan:
        return replace(flow, transport=changed_transports.setdefault(id(flow.transport), flow.transport | changes))

    return cell.with_ours(with_changes)


SCHEDULES = ("symmetric", "original")


@axis
@grows(lambda size, value: size.with_flows(tested_flows=_count("flows")(value.table("staircase"))))
def staircase(cell: Cell, value: TomlTable) -> Cell:
    """Ours join one by one, `apart_s` apart, and leave again, the last that came first (the Copa paper, figure 4).

    Of N flows number i from 0 ends at `apart_s` (2 N - i): it lasts 2 `apart_s` (N - i)
    (nadinelyab/Copa_Reproduction@72499f0, jain_full_experiment.py). In the `original` schedule it lasts
    2 `apart_s` (N - i - 1) + 1 s (venkatarun95/CopaEvaluation@a7492d9, experiment-dynamic.sh).
    """
    table = value.table("staircase")
    count = _count("flows")(table)
    apart_s = table.number("apart_s", minimum=1e-3)
    schedule = table.text("schedule", "symmetric", choices=SCHEDULES)
    table.finish()
    own_flows = [flow for flow in cell.flows if not flow.scheme]
    if len(own_flows) != 1:
        raise table.fail("flows", count, f"only one flow under test to begin with, not {len(own_flows)}")
    steps = []
    for index in range(count):
        left = count - index
        lasts_s = 2 * apart_s * left if schedule == "symmetric" else 2 * apart_s * (left - 1) + 1.0
        start_s = own_flows[0].start_s + index * apart_s
        steps.append(replace(own_flows[0], start_s=start_s, stop_s=start_s + lasts_s))
    return replace(cell, flows=(*steps, *(flow for flow in cell.flows if flow.scheme)))
