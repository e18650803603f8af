"""Likely causes of differences between measured and simulated runs, with the evidence from packet logs."""

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
from dumbbell_reproduce.simulated import Change, SimulatedRuns, is_suspected
from dumbbell_reproduce.viewpoint import DELAY, RATE

CUBIC, CARRY, SILENT, BUFFER, JITTER = "cubic", "host-rate", "silent", "buffer", "jitter"
PACING, START = "pacing", "start"
PROGRAM, APPLICATION, STEP, SCATTER, CHANCE = (
    *("program", "application", "step", "measured-scatter", "simulated-scatter"),
)
"""Kinds of causes. The first three exclude a run: another scheme, the host or a silent program made the result."""

PACKET_BYTES = 1500
FULL = 0.93
"""Share of a window's top from which on the socket counts as full."""
LEAST_FULL = 0.2
"""Smallest share of a run that has to remain when the top is first reached. Growth that has just arrived there shows no
limit."""
BEYOND = 1.15
"""Ratio of the tops of the simulated and the measured window from which on their sockets differ."""
LEAST_LIMIT_BYTES = 100_000
FEW_LOSSES = 0.001
"""Share of packets lost before the end above which a window's top is the queue's, not the socket's."""
LATE_MS = 20.0
"""Mean lateness above which a host did not carry the offered rate of the link, ms."""
QUIET = 0.02
"""Share of the simulated throughput below which a program hardly sent."""
SHAPE = (5.0, 25.0, 50.0, 75.0, 95.0)
"""Percentiles of the window that describe its shape, whatever its phase."""
ALIKE = 0.25
"""Largest mean distance, in logarithms, between two shapes that count as equal."""
APART = 2.5
"""Smallest ratio of two distances: to the named scheme's shape, and to CUBIC's."""
LEAST_APART = 0.4
TWIN_RATE, TWIN_DELAY = 0.02, 0.15
"""Relative differences up to which two measured runs have the same throughput and the same p95."""
FAR = 3.0
"""Smallest ratio, in either direction, of the measured p95 to the p95 of the named scheme."""
CLOSER = 0.5
"""Largest share of the error that an experiment may leave if its change is a part of the cause."""
IDLE = 0.5
"""Part of the capacity below which a link is idle."""
NO_QUEUE_MS = 5.0
"""Largest span of delays without a queue, ms."""
AROUND = (93.0, 97.0)
"""Percentiles around the 95th: values between them differ by two packets of 100."""
_FLOOR_BYTES = 3000.0


@dataclass(frozen=True)
class Evidence:
    """A measured run and the simulated runs from which its causes are inferred."""

    run: MeasuredRun
    path: MeasuredPath
    simulated_runs: SimulatedRuns
    scheme_runs: tuple[SimulatedRuns, ...] = ()
    """Simulated runs of the scheme itself, with Linux's and with unlimited sockets, if its kernel module may be
    missing."""
    cubic: tuple[SimulatedRuns, ...] = ()
    """Simulated runs of CUBIC with both kinds of sockets, if the kernel module may be missing."""
    siblings: Sequence[MeasuredRun] = ()
    """Other measured runs of the same scheme on the same path."""
    measured_cubic: Sequence[MeasuredRun] = ()
    """Measured runs of CUBIC on the same path, if the kernel module may be missing."""


def estimate(evidence: Evidence) -> HostEstimate:
    """Return what a measured run shows about its host."""
    if not evidence.run.has_packets:
        return HostEstimate()
    packets, delay_ms = evidence.run.packets, evidence.path.delay_ms
    has_link_log = evidence.path.has_link_log
    return HostEstimate(
        data=packets.lateness(delay_ms) if has_link_log else None,
        ack=packets.lateness(delay_ms, ack=True) if has_link_log else None,
        buffer_packets=full_socket(evidence),
    )


def full_socket(evidence: Evidence) -> int | None:
    """Return the number of packets that the sender's socket held, if the socket limited the window; else None.

    The socket was the limit if the window reaches its top again and again without loss, and the simulated top differs.
    """
    scheme = evidence.run.scheme
    if not is_tcp(scheme) or family(scheme.name) != "loss":
        return None  # a controller that uses delay or a model stops growing by itself
    packets = evidence.run.packets
    window = packets.window()
    if len(window) < 50:
        return None
    top = float(np.percentile(window, 99.5))
    if top < LEAST_LIMIT_BYTES or len(packets.lost_beside()) > FEW_LOSSES * packets.sent:
        return None
    if int(np.argmax(window >= FULL * top)) > (1.0 - LEAST_FULL) * len(window):
        return None
    simulated_packets = evidence.simulated_runs.packets()
    if simulated_packets is None or not len(other := simulated_packets.window()):
        return None
    if not _is_apart(other, top):
        return None
    return round(top / PACKET_BYTES)


def _is_apart(window: Numbers, limit: float) -> bool:
    """Return True if the top of a window differs from a limit, bytes."""
    top = float(np.percentile(window, 99.5))
    return not limit / BEYOND < top < BEYOND * limit


def causes(
    evidence: Evidence, exact: Comparison, experiments: Sequence[tuple[Change, Comparison]]
) -> tuple[Cause, ...]:
    """Return the likely causes for a run that counts; empty if throughput and delay are within their tolerances.

    `experiments` has each change with which the run was simulated again, and its comparison.
    """
    if not is_off(exact):
        return ()
    scatter = _scatter(evidence, exact)
    explanation = _best_explanation(exact, experiments) if scatter is None else None  # chance needs no change
    causes_found = [] if explanation is None else [explanation]
    if evidence.run.note:
        causes_found.append(Cause(PROGRAM, f"{evidence.run.scheme.name} is {evidence.run.note}"))
    more = (_application(evidence, exact), _step(evidence, exact), scatter)
    return (*causes_found, *(cause for cause in more if cause is not None))


def _best_explanation(exact: Comparison, experiments: Sequence[tuple[Change, Comparison]]) -> Cause | None:
    """Return the first change that brings the run within its tolerances, else the closest that halves the error."""
    candidates = [
        (max(errors(comparison)), change, comparison) for change, comparison in experiments if errors(comparison)
    ]
    if not candidates or not errors(exact):
        return None
    error, change, comparison = next(
        (candidate for candidate in candidates if candidate[0] <= 1.0),
        min(candidates, key=lambda candidate: candidate[0]),
    )
    if error > max(1.0, CLOSER * max(errors(exact))):
        return None
    part = "" if error <= 1.0 else "a part of it is "
    return Cause(change.kind, f"{part}{change.text}: {_remaining_error(comparison)}", comparison=comparison)


def _remaining_error(comparison: Comparison) -> str:
    """Return the remaining error of the simulated run with a change, in words."""
    errors_left = [
        (words, measure) for name, words in ((RATE, "throughput"), (DELAY, "delay")) if (measure := comparison[name])
    ]
    return "with it " + ", ".join(f"{words} is {100 * measure.relative:+.0f} % off" for words, measure in errors_left)


def exclusions(evidence: Evidence, host: HostEstimate) -> tuple[Cause, ...]:
    """Return the causes that exclude a run: another scheme ran, its host was overloaded, or it was silent.

    Such a run tells nothing about its host either.
    """
    exact = compare(evidence.run, 0, evidence.simulated_runs)
    candidates = [_other_scheme(evidence, exact), _overloaded(host), _silent(exact)]
    return tuple(cause for cause in candidates if cause is not None)


def shape(packets: RunPackets) -> Numbers | None:
    """Return the logarithms of the window's percentiles; None for a run without a window."""
    window = packets.window()
    if len(window) < 50:
        return None
    logarithms: Numbers = np.log(np.maximum(np.percentile(window, SHAPE), _FLOOR_BYTES))
    return logarithms


def _distance(measured_shape: Numbers, simulated_runs: Sequence[SimulatedRuns]) -> float | None:
    """Return the distance from a measured shape to the closest shape of the simulated runs."""
    folders = [folder for runs in simulated_runs for folder in runs.folders]
    shapes = [window_shape for folder in folders if (window_shape := shape(RunPackets(folder))) is not None]
    return min((float(np.abs(simulated_shape - measured_shape).mean()) for simulated_shape in shapes), default=None)


def _other_scheme(evidence: Evidence, exact: Comparison) -> Cause | None:
    """Return the cause that CUBIC ran in place of a scheme, because its kernel module was missing; else None.

    The window's shape shows this; without packets throughput and p95 do.
    """
    name = evidence.run.name
    if not is_suspected(evidence.run):
        return None
    measured_shape = shape(evidence.run.packets) if evidence.run.has_packets else None
    if measured_shape is not None:
        own_distance, cubic_distance = (
            _distance(measured_shape, evidence.scheme_runs),
            _distance(measured_shape, evidence.cubic),
        )
        if (
            own_distance is None
            or cubic_distance is None
            or cubic_distance > ALIKE
            or own_distance < max(LEAST_APART, APART * cubic_distance)
        ):
            return None
        reason = "its window has CUBIC's shape"
    else:
        twin = _twin(evidence, exact)
        if twin is None:
            return None
        reason = f"throughput and p95 are those of {twin.label}, p95 is not {name}'s"
    return Cause(CUBIC, f"it was really CUBIC: {reason} (the kernel module of {name} was missing)", excludes=True)


def _twin(evidence: Evidence, exact: Comparison) -> MeasuredRun | None:
    """Return a measured run of CUBIC with the same numbers, if the p95 of the simulated scheme is far away."""
    delay, rate = exact[DELAY], exact[RATE]
    if delay is None or rate is None or not min(delay.measured_value, delay.mean) > 0.0:
        return None
    if max(delay.mean / delay.measured_value, delay.measured_value / delay.mean) < FAR:
        return None
    for other in evidence.measured_cubic:
        metrics = other.metrics(0)
        pairs = [
            (comparison, metrics[name], tolerance)
            for name, comparison, tolerance in ((RATE, rate, TWIN_RATE), (DELAY, delay, TWIN_DELAY))
        ]
        if all(
            value is not None and abs(value - comparison.measured_value) <= part * comparison.measured_value
            for comparison, value, part in pairs
        ):
            return other
    return None


def _overloaded(host: HostEstimate) -> Cause | None:
    if host.data is None or host.data.mean_ms <= LATE_MS:
        return None
    late = f"packets left {host.data.mean_ms:.0f} ms after the link let them, on average"
    text = f"the host could not carry the rate: {late}"
    return Cause(CARRY, text, excludes=True)


def _silent(exact: Comparison) -> Cause | None:
    rate = exact[RATE]
    if rate is None or rate.measured_value >= QUIET * rate.mean:
        return None
    text = f"the program hardly sent: {rate.measured_value:.3g} Mbit/s, simulated {rate.mean:.3g}"
    return Cause(SILENT, text, excludes=True)


def _application(evidence: Evidence, exact: Comparison) -> Cause | None:
    """Return the cause that a program's own source offered less than the simulated source, and left the link idle."""
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
    """Return the cause that the 95th percentile lies where few packets make a large difference."""
    delay = exact[DELAY]
    if delay is None or abs(delay.relative) <= TOLERANCES[DELAY] or not evidence.run.has_packets:
        return None
    simulated_packets = evidence.simulated_runs.packets()
    sides = (("measured", evidence.run.packets, delay.mean), ("simulated", simulated_packets, delay.measured_value))
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
    """Return the cause that measured or simulated runs differ among themselves more than from the other kind."""
    for name, words in ((RATE, "throughput"), (DELAY, evidence.run.view.delay)):
        comparison = exact[name]
        if comparison is None or abs(comparison.relative) <= TOLERANCES[name]:
            continue
        values = [value for run in (evidence.run, *evidence.siblings) if (value := run.metrics(0)[name]) is not None]
        low, high = min(values), max(values)
        if low <= comparison.mean <= high:
            return Cause(SCATTER, f"measured runs differ among themselves: {words} {low:.3g} to {high:.3g}")
        if comparison.low <= comparison.measured_value <= comparison.high:
            return Cause(
                CHANCE, f"simulated runs differ among themselves: {words} {comparison.low:.3g} to {comparison.high:.3g}"
            )
    return None
