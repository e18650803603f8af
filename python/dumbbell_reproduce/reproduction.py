"""What a reproduction found: its rows, how many are within tolerance, and the most surprising ones in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell_reproduce.host_delays import HostProfile
from dumbbell_reproduce.measured_path import MeasuredPath
from dumbbell_reproduce.score import TOLERANCES, Row, Score, score
from dumbbell_reproduce.viewpoint import DELAY, LOSS, RATE

MOST_TOLD = 5
"""Surprises that the first lines name."""


@dataclass(frozen=True)
class FittedHost:
    """A host that fits other runs on a path, and is used for some.

    Attributes:
        told_by: Runs whose packets tell the host; 0 of a host that was only tried.
        used_for: Runs that are simulated with the host.
        gain: Log-likelihood of the other runs gained over exact hosts, the least of those runs.
    """

    path: str
    profile: HostProfile
    told_by: int
    used_for: int
    gain: float


@dataclass(frozen=True)
class Found:
    """Every measured run beside the simulated ones, most surprising first."""

    source: Path
    rows: tuple[Row, ...]
    paths: tuple[MeasuredPath, ...]
    hosts: tuple[FittedHost, ...]
    left_out: tuple[str, ...]
    """Runs that nothing was simulated for, each with the reason."""
    runs: int
    """Simulated repetitions."""

    @property
    def scores(self) -> dict[str, Score]:
        """By `exact` and `host`: of all flows of a run together; by `exact-flows` and `host-flows`: of each flow.

        With `host` each run has the host that fits other runs, or exact hosts.
        """
        found: dict[str, Score] = {}
        for suffix, level in (("", False), ("-flows", True)):
            rows = [row for row in self.rows if row.counts and (row.flow > 0) == level]
            if rows:
                found[f"exact{suffix}"] = score(row.exact for row in rows)
            if any(row.host is not None for row in rows):
                found[f"host{suffix}"] = score(row.compared for row in rows)
        return found

    @property
    def delay(self) -> str:
        """The delay that was compared, in words."""
        rows = self.rows
        words = dict.fromkeys(row.run.view.delay for row in rows if DELAY in row.run.view.metrics)
        return " or ".join(words) or "delay"

    @property
    def excluded(self) -> list[Row]:
        """Runs that do not count, for they are none of what they are called."""
        return [row for row in self.rows if not row.counts and row.flow == 0]

    def findings(self) -> list[str]:
        """Sentences that say what was found, the score first."""
        scores = self.scores
        found = list(_told(scores, self.delay))
        excluded = self.excluded
        if excluded:
            found.append(f"{_count(len(excluded), 'run')} left out of the score.")
            found += [f"Left out: {_who(row)}: {row.causes[0].text}." for row in excluded]
        far = [row for row in self.rows if row.counts and row.flow == 0 and row.surprise > 1.0]
        found += [_sentence(row) for row in far[:MOST_TOLD]]
        if len(far) > MOST_TOLD:
            found.append(f"{_count(len(far) - MOST_TOLD, 'more run')} outside of the tolerances: see the table.")
        return found

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "source": str(self.source),
            "simulated_runs": self.runs,
            "findings": self.findings(),
            "scores": {name: each.as_json() for name, each in self.scores.items()},
            "hosts": [
                {"path": each.path}
                | each.profile.as_json()
                | {"told_by_runs": each.told_by, "used_for_runs": each.used_for, "log_likelihood_gained": each.gain}
                for each in self.hosts
            ],
            "paths": [
                {"name": each.model.name, "known_by": each.how, "runs": len(each.runs)} | each.model.table()
                for each in self.paths
            ],
            "rows": [row.as_json() for row in self.rows],
            "left_out": list(self.left_out),
        }


def ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows, the most surprising run first, its flows behind it."""
    whole = {row.run.key: row.surprise for row in rows if row.flow == 0}
    return tuple(sorted(rows, key=lambda row: (-whole.get(row.run.key, row.surprise), row.run.key, row.flow)))


def _told(scores: dict[str, Score], delay: str) -> Iterator[str]:
    exact, host = scores.get("exact"), scores.get("host")
    if exact is None:
        yield "No run counts in the score."
        return
    verb = "is" if exact.both == 1 else "are"
    yield (
        f"{exact.both} of {_count(exact.rows, 'run')} {verb} within {_percent(RATE)} of throughput and "
        f"{_percent(DELAY)} of {delay}, between exact hosts "
        f"(throughput {exact.throughput} of {exact.rows}, {delay} {exact.delay} of {exact.delays})."
    )
    if host is not None:
        yield (
            f"With the hosts that fit other runs best: {host.both} of {host.rows} "
            f"(throughput {host.throughput} of {host.rows}, {delay} {host.delay} of {host.delays})."
        )
    for name, words in (("exact-flows", "between exact hosts"), ("host-flows", "with the hosts that fit best")):
        each = scores.get(name)
        if each is not None and each.median_throughput is not None:
            late = "" if each.median_delay is None else f", {100 * each.median_delay:.0f} % of {delay}"
            yield (
                f"Single flows of several, {words}: median error {100 * each.median_throughput:.0f} % of "
                f"throughput{late} ({each.rows} flows)."
            )


def _percent(name: str) -> str:
    return f"{100 * TOLERANCES[name]:.0f} %"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _who(row: Row) -> str:
    return f"{row.run.place}: {row.label}"


def _sentence(row: Row) -> str:
    causes = "; ".join(cause.text for cause in row.causes) or "no experiment explains it"
    return f"{_who(row)}: {off_by(row)}: {causes}."


def off_by(row: Row) -> str:
    """Return in words which metrics of a row are outside of their tolerance."""
    parts = []
    for name, words in ((RATE, "throughput"), (DELAY, row.run.view.delay)):
        each = row.compared[name]
        if each is not None and abs(each.relative) > TOLERANCES[name]:
            way = "above" if each.relative > 0 else "below"
            parts.append(f"simulated {words} {100 * abs(each.relative):.0f} % {way} the measured one")
    loss = row.compared[LOSS]
    if not parts and loss is not None:
        parts.append(f"simulated loss {100 * loss.mean:.2f} %, measured {100 * loss.measured:.2f} %")
    return ", ".join(parts) or "nothing was simulated"
