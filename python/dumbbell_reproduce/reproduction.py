"""The result of a reproduction: its rows, its score, and sentences about the most surprising runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell_reproduce.host_delays import HostProfile
from dumbbell_reproduce.measured_path import MeasuredPath
from dumbbell_reproduce.score import TOLERANCES, Row, Score, score
from dumbbell_reproduce.viewpoint import DELAY, LOSS, RATE

MOST_TOLD = 5
"""Largest number of surprising runs that the first lines name."""


@dataclass(frozen=True)
class FittedHost:
    """A host that fits other runs on a path, and is used to simulate some runs.

    Attributes:
        told_by: Number of runs whose packets show the host; 0 if the host was only tried.
        used_for: Number of runs that are simulated with the host.
        gain: Smallest gain in log-likelihood over exact hosts, among the runs that use the host.
    """

    path: str
    profile: HostProfile
    told_by: int
    used_for: int
    gain: float


@dataclass(frozen=True)
class ReproductionData:
    """All measured runs with their simulated runs, most surprising first."""

    source: Path
    rows: tuple[Row, ...]
    paths: tuple[MeasuredPath, ...]
    hosts: tuple[FittedHost, ...]
    left_out: tuple[str, ...]
    """Runs that could not be simulated, each with the reason."""
    runs: int
    """Simulated repetitions."""

    @property
    def scores(self) -> dict[str, Score]:
        """Scores by name: `exact` and `host` of whole runs, `exact-flows` and `host-flows` of single flows.

        The `host` scores use the host that fits other runs; exact hosts where no host fits.
        """
        scores: dict[str, Score] = {}
        for suffix, level in (("", False), ("-flows", True)):
            rows = [row for row in self.rows if row.counts and (row.flow > 0) == level]
            if rows:
                scores[f"exact{suffix}"] = score(row.exact for row in rows)
            if any(row.host is not None for row in rows):
                scores[f"host{suffix}"] = score(row.comparison for row in rows)
        return scores

    @property
    def delay(self) -> str:
        """Names of the compared delays, in words."""
        rows = self.rows
        words = dict.fromkeys(row.run.view.delay for row in rows if DELAY in row.run.view.metrics)
        return " or ".join(words) or "delay"

    @property
    def excluded(self) -> list[Row]:
        """Runs that do not count, because another scheme, the host or a silent program made them."""
        return [row for row in self.rows if not row.counts and row.flow == 0]

    def findings(self) -> list[str]:
        """Return sentences about the result, the score first."""
        scores = self.scores
        sentences = list(_score_sentences(scores, self.delay))
        excluded_rows = self.excluded
        if excluded_rows:
            sentences.append(f"{_count(len(excluded_rows), 'run')} left out of the score.")
            sentences += [f"Left out: {_row_name(row)}: {row.causes[0].text}." for row in excluded_rows]
        far = [row for row in self.rows if row.counts and row.flow == 0 and row.surprise > 1.0]
        sentences += [_sentence(row) for row in far[:MOST_TOLD]]
        if len(far) > MOST_TOLD:
            sentences.append(f"{_count(len(far) - MOST_TOLD, 'more run')} outside of the tolerances: see the table.")
        return sentences

    def as_json(self) -> dict[str, object]:
        """Return the result as JSON values."""
        return {
            "source": str(self.source),
            "simulated_runs": self.runs,
            "findings": self.findings(),
            "scores": {name: each_score.as_json() for name, each_score in self.scores.items()},
            "hosts": [
                {"path": host.path}
                | host.profile.as_json()
                | {"told_by_runs": host.told_by, "used_for_runs": host.used_for, "log_likelihood_gained": host.gain}
                for host in self.hosts
            ],
            "paths": [
                {"name": path.model.name, "known_by": path.origin, "runs": len(path.runs)} | path.model.table()
                for path in self.paths
            ],
            "rows": [row.as_json() for row in self.rows],
            "left_out": list(self.left_out),
        }


def ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows, the most surprising run first, its flows behind it."""
    run_surprises = {row.run.key: row.surprise for row in rows if row.flow == 0}
    return tuple(sorted(rows, key=lambda row: (-run_surprises.get(row.run.key, row.surprise), row.run.key, row.flow)))


def _score_sentences(scores: dict[str, Score], delay: str) -> Iterator[str]:
    exact, host = scores.get("exact"), scores.get("host")
    if exact is None:
        yield "No run counts in the score."
        return
    verb = "is" if exact.within_both == 1 else "are"
    yield (
        f"{exact.within_both} of {_count(exact.rows, 'run')} {verb} within {_percent(RATE)} of throughput and "
        f"{_percent(DELAY)} of {delay}, between exact hosts "
        f"(throughput {exact.throughput} of {exact.rows}, {delay} {exact.delay} of {exact.delays})."
    )
    if host is not None:
        yield (
            f"With the hosts that fit other runs best: {host.within_both} of {host.rows} "
            f"(throughput {host.throughput} of {host.rows}, {delay} {host.delay} of {host.delays})."
        )
    for name, words in (("exact-flows", "between exact hosts"), ("host-flows", "with the hosts that fit best")):
        flow_score = scores.get(name)
        if flow_score is not None and flow_score.median_throughput is not None:
            late = "" if flow_score.median_delay is None else f", {100 * flow_score.median_delay:.0f} % of {delay}"
            yield (
                f"Single flows of several, {words}: median error {100 * flow_score.median_throughput:.0f} % of "
                f"throughput{late} ({flow_score.rows} flows)."
            )


def _percent(name: str) -> str:
    return f"{100 * TOLERANCES[name]:.0f} %"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _row_name(row: Row) -> str:
    return f"{row.run.place}: {row.label}"


def _sentence(row: Row) -> str:
    causes = "; ".join(cause.text for cause in row.causes) or "no experiment explains it"
    return f"{_row_name(row)}: {off_by(row)}: {causes}."


def off_by(row: Row) -> str:
    """Return a phrase that names the metrics of a row outside of their tolerance."""
    parts = []
    for name, words in ((RATE, "throughput"), (DELAY, row.run.view.delay)):
        comparison = row.comparison[name]
        if comparison is not None and abs(comparison.relative) > TOLERANCES[name]:
            way = "above" if comparison.relative > 0 else "below"
            parts.append(f"simulated {words} {100 * abs(comparison.relative):.0f} % {way} the measured one")
    loss = row.comparison[LOSS]
    if not parts and loss is not None:
        parts.append(f"simulated loss {100 * loss.mean:.2f} %, measured {100 * loss.measured_value:.2f} %")
    return ", ".join(parts) or "nothing was simulated"
