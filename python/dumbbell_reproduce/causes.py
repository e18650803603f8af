"""Why a measured run is not as the simulated ones, where its log tells that."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell.catalog.families import family
from dumbbell_reproduce.host_delays import HostEstimate
from dumbbell_reproduce.kernel_tcp import is_tcp
from dumbbell_reproduce.measured_path import MeasuredPath
from dumbbell_reproduce.measured_set import MeasuredRun
from dumbbell_reproduce.packets import Numbers, RunPackets
from dumbbell_reproduce.score import TOLERANCES, Cause, Comparison, compare, errors, is_off
from dumbbell_reproduce.simulated import Change, Simulated, is_suspected
from dumbbell_reproduce.viewpoint import DELAY, RATE

CUBIC, CARRY, SILENT, BUFFER, JITTER = "cubic", "host-rate", "silent", "buffer", "jitter"
PACING, START = "pacing", "start"
PROGRAM, APPLICATION, STEP, SCATTER, CHANCE = (
    *("program", "application", "step", "measured-scatter", "simulated-scatter"),
)
"""Kinds of causes. Of the first three a run is no run of what it is called."""

PACKET_BYTES = 1500
FULL = 0.93
"""Share of a window's top from which on the socket counts as full."""
LEAST_FULL = 0.2
"""Least part of a run that is left when the top is reached first: growth that has just arrived there is no limit."""
BEYOND = 1.15
"""Ratio of the tops of two windows, simulated and measured, from which on their sockets are not the same."""
LEAST_LIMIT_BYTES = 100_000
FEW_LOSSES = 0.001
"""Share of packets lost before the end above which a window's top is the queue's, not the socket's."""
LATE_MS = 20.0
"""Mean lateness from which on a host did not carry what the link offered."""
QUIET = 0.02
"""Share of the simulated throughput below which a program hardly sent."""
SHAPE = (5.0, 25.0, 50.0, 75.0, 95.0)
"""Percentiles of the window, which are its shape whatever its phase."""
ALIKE = 0.25
"""Mean distance, in logarithms, up to which two shapes are one."""
APART = 2.5
"""How many times as far the scheme that the run is called has to be."""
LEAST_APART = 0.4
TWIN_RATE, TWIN_DELAY = 0.02, 0.15
"""Relative differences up to which two measured runs have the same throughput and the same p95."""
FAR = 3.0
"""How many times larger or smaller p95 is than that of the scheme that the run is called."""
CLOSER = 0.5
"""Part of the error that an experiment leaves, at most, if what was changed is a part of the cause."""
IDLE = 0.5
"""Part of the capacity below which a link is idle."""
NO_QUEUE_MS = 5.0
"""What delays without a queue span, at most."""
AROUND = (93.0, 97.0)
"""Percentiles around the 95th: values between them differ by two packets of 100."""
_FLOOR_BYTES = 3000.0


@dataclass(frozen=True)
class Evidence:
    """What causes are told from: a measured run, and the simulated ones beside it."""

    run: MeasuredRun
    path: MeasuredPath
    beside: Simulated
    own: tuple[Simulated, ...] = ()
    """Of schemes whose kernel module may be missing: the scheme itself, with Linux's and with unlimited sockets,"""
    cubic: tuple[Simulated, ...] = ()
    """and CUBIC, with both."""
    siblings: Sequence[MeasuredRun] = ()
    """Other measured runs of the same scheme on the same path."""
    measured_cubic: Sequence[MeasuredRun] = ()
    """Measured runs of CUBIC on the same path, of schemes whose kernel module may be missing."""


def estimate(evidence: Evidence) -> HostEstimate:
    """Return what a measured run tells of its host."""
    if not evidence.run.has_packets:
        return HostEstimate()
    packets, delay_ms = evidence.run.packets, evidence.path.delay_ms
    logged = evidence.path.has_link_log
    return HostEstimate(
        data=packets.lateness(delay_ms) if logged else None,
        ack=packets.lateness(delay_ms, ack=True) if logged else None,
        buffer_packets=full_socket(evidence),
    )


def full_socket(evidence: Evidence) -> int | None:
    """Return how many packets the sender's socket held, if that was the limit of the window; else None.

    The window's top is reached again and again without a loss, and the simulated scheme has another top.
    """
    scheme = evidence.run.scheme
    if not is_tcp(scheme) or family(scheme.name) != "loss":
        return None  # what goes by delay or by a model stops by itself
    packets = evidence.run.packets
    window = packets.window()
    if len(window) < 50:
        return None
    top = float(np.percentile(window, 99.5))
    if top < LEAST_LIMIT_BYTES or len(packets.lost_beside()) > FEW_LOSSES * packets.sent:
        return None
    if int(np.argmax(window >= FULL * top)) > (1.0 - LEAST_FULL) * len(window):
        return None
    simulated = evidence.beside.packets()
    if simulated is None or not len(other := simulated.window()):
        return None
    if not _is_apart(other, top):
        return None
    return round(top / PACKET_BYTES)


def _is_apart(window: Numbers, limit: float) -> bool:
    """Return True if a window's top is another one than a limit, bytes."""
    top = float(np.percentile(window, 99.5))
    return not limit / BEYOND < top < BEYOND * limit


def causes(
    evidence: Evidence, exact: Comparison, experiments: Sequence[tuple[Change, Comparison]]
) -> tuple[Cause, ...]:
    """Return the likely causes for a run that counts: none if throughput and delay are within their tolerances.

    `experiments` are the changes that the run was simulated again with.
    """
    if not is_off(exact):
        return ()
    scatter = _scatter(evidence, exact)
    shown = _shown(exact, experiments) if scatter is None else None  # what is chance needs no change
    found = [] if shown is None else [shown]
    if evidence.run.note:
        found.append(Cause(PROGRAM, f"{evidence.run.scheme.name} is {evidence.run.note}"))
    more = (_application(evidence, exact), _step(evidence, exact), scatter)
    return (*found, *(each for each in more if each is not None))


def _shown(exact: Comparison, experiments: Sequence[tuple[Change, Comparison]]) -> Cause | None:
    """Return the first change that brings the run within its tolerances, else the closest that halves the error."""
    known = [(max(errors(compared)), change, compared) for change, compared in experiments if errors(compared)]
    if not known or not errors(exact):
        return None
    error, change, compared = next((each for each in known if each[0] <= 1.0), min(known, key=lambda each: each[0]))
    if error > max(1.0, CLOSER * max(errors(exact))):
        return None
    part = "" if error <= 1.0 else "a part of it is "
    return Cause(change.kind, f"{part}{change.text}: {_left(compared)}", shown=compared)


def _left(compared: Comparison) -> str:
    """Return in words how far the simulated run is off with a change."""
    known = [(words, each) for name, words in ((RATE, "throughput"), (DELAY, "delay")) if (each := compared[name])]
    return "with it " + ", ".join(f"{words} is {100 * each.relative:+.0f} % off" for words, each in known)


def exclusions(evidence: Evidence, told: HostEstimate) -> tuple[Cause, ...]:
    """Return the causes by which a run does not count: another scheme ran, its host was overloaded, or it was silent.

    Such a run tells nothing of its host either.
    """
    exact = compare(evidence.run, 0, evidence.beside)
    found = [_other_scheme(evidence, exact), _overloaded(told), _silent(exact)]
    return tuple(each for each in found if each is not None)


def shape(packets: RunPackets) -> Numbers | None:
    """Return the logarithms of the window's percentiles; None of a run without a window."""
    window = packets.window()
    if len(window) < 50:
        return None
    found: Numbers = np.log(np.maximum(np.percentile(window, SHAPE), _FLOOR_BYTES))
    return found


def _distance(measured: Numbers, beside: Sequence[Simulated]) -> float | None:
    """Return how far the shapes of simulated runs are from a measured one; the closest counts."""
    folders = [folder for each in beside for folder in each.folders]
    shapes = [found for folder in folders if (found := shape(RunPackets(folder))) is not None]
    return min((float(np.abs(each - measured).mean()) for each in shapes), default=None)


def _other_scheme(evidence: Evidence, exact: Comparison) -> Cause | None:
    """CUBIC in place of a scheme whose kernel module was missing: by the window's shape, without packets by numbers."""
    name = evidence.run.name
    if not is_suspected(evidence.run):
        return None
    measured = shape(evidence.run.packets) if evidence.run.has_packets else None
    if measured is not None:
        own, cubic = _distance(measured, evidence.own), _distance(measured, evidence.cubic)
        if own is None or cubic is None or cubic > ALIKE or own < max(LEAST_APART, APART * cubic):
            return None
        how = "its window has CUBIC's shape"
    else:
        twin = _twin(evidence, exact)
        if twin is None:
            return None
        how = f"throughput and p95 are those of {twin.label}, p95 is not {name}'s"
    return Cause(CUBIC, f"it was really CUBIC: {how} (the kernel module of {name} was missing)", excludes=True)


def _twin(evidence: Evidence, exact: Comparison) -> MeasuredRun | None:
    """Return a measured run of CUBIC with the same numbers, where the simulated scheme has a p95 that is far away."""
    delay, rate = exact[DELAY], exact[RATE]
    if delay is None or rate is None or not min(delay.measured, delay.mean) > 0.0:
        return None
    if max(delay.mean / delay.measured, delay.measured / delay.mean) < FAR:
        return None
    for other in evidence.measured_cubic:
        others = other.metrics(0)
        same = [
            (each, others[name], tolerance)
            for name, each, tolerance in ((RATE, rate, TWIN_RATE), (DELAY, delay, TWIN_DELAY))
        ]
        if all(value is not None and abs(value - each.measured) <= part * each.measured for each, value, part in same):
            return other
    return None


def _overloaded(told: HostEstimate) -> Cause | None:
    if told.data is None or told.data.mean_ms <= LATE_MS:
        return None
    late = f"packets left {told.data.mean_ms:.0f} ms after the link let them, on average"
    text = f"the host could not carry the rate: {late}"
    return Cause(CARRY, text, excludes=True)


def _silent(exact: Comparison) -> Cause | None:
    rate = exact[RATE]
    if rate is None or rate.measured >= QUIET * rate.mean:
        return None
    text = f"the program hardly sent: {rate.measured:.3g} Mbit/s, simulated {rate.mean:.3g}"
    return Cause(SILENT, text, excludes=True)


def _application(evidence: Evidence, exact: Comparison) -> Cause | None:
    """A program with a source of its own that offered less than the simulated one, and left the link idle."""
    network, run, rates = evidence.run.statistics["network"], evidence.run, exact[RATE]
    if family(run.scheme.name) != "media" or not run.has_packets:
        return None
    if rates is None or rates.relative <= TOLERANCES[RATE]:
        return None
    rate, capacity = network.get("throughput_mbps"), network.get("capacity_mbps")
    delays = run.packets.way().delays_ms
    if not capacity or rate is None or rate > IDLE * capacity or not len(delays):
        return None
    if float(np.percentile(delays, 95.0)) > float(np.percentile(delays, 5.0)) + NO_QUEUE_MS:
        return None
    text = f"its application was the limit: {rate:.2g} of {capacity:.3g} Mbit/s, without a queue"
    return Cause(APPLICATION, text)


def _step(evidence: Evidence, exact: Comparison) -> Cause | None:
    """A 95th percentile where few packets more or less make a large difference."""
    each = exact[DELAY]
    if each is None or abs(each.relative) <= TOLERANCES[DELAY] or not evidence.run.has_packets:
        return None
    simulated = evidence.beside.packets()
    sides = (("measured", evidence.run.packets, each.mean), ("simulated", simulated, each.measured))
    for words, packets, other in sides:
        delays = np.zeros(0) if packets is None else packets.way().delays_ms
        if len(delays) < 100:
            continue
        low, high = (float(value) for value in np.percentile(delays, AROUND))
        if low <= other <= high:
            share = f"{AROUND[0]:.0f} % of packets are below {low:.3g} ms, {AROUND[1]:.0f} % below {high:.3g}"
            return Cause(STEP, f"p95 is at a step of the {words} delays: {share}")
    return None


def _scatter(evidence: Evidence, exact: Comparison) -> Cause | None:
    """Runs of a scheme that differ among themselves by more than they differ from the other side."""
    for name, words in ((RATE, "throughput"), (DELAY, evidence.run.view.delay)):
        each = exact[name]
        if each is None or abs(each.relative) <= TOLERANCES[name]:
            continue
        values = [value for run in (evidence.run, *evidence.siblings) if (value := run.metrics(0)[name]) is not None]
        low, high = min(values), max(values)
        if low <= each.mean <= high:
            return Cause(SCATTER, f"measured runs differ among themselves: {words} {low:.3g} to {high:.3g}")
        if each.low <= each.measured <= each.high:
            return Cause(CHANCE, f"simulated runs differ among themselves: {words} {each.low:.3g} to {each.high:.3g}")
    return None
