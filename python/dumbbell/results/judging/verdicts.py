"""Verdicts on schemes under test beside baselines: cells beyond the noise of the runs, gains, and places."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from dumbbell.results.analysis.findings.noise import Noise, Verdict, judged
from dumbbell.results.analysis.summary import MetricKey, Repetitions
from dumbbell.results.judging.direction import LESS, NEITHER, Metric, metric
from dumbbell.results.judging.measured import MeasuredBenchmark, MeasuredCell, MeasuredExperiment, rivals

DELAY = metric("network", "owd_p95_ms")
"""Metric that is judged beside the headline metric."""

_KEY: MetricKey = ("network", 0, "judged")


@dataclass(frozen=True)
class Judgement:
    """One metric of a scheme beside that of a baseline, over the cells of an experiment.

    `better`, `worse` and `alike` are cells; `unknown` those with a single run of one of the two. `gains` are the
    relative differences of the cells, 0.1 for 10 % to the better, where the baseline has anything. `best` and `worst`
    are the cells with the largest gain and the largest loss among those that are clear.
    """

    scheme: str
    baseline: str
    experiment: str
    title: str
    group: str
    metric: Metric
    better: int
    worse: int
    alike: int
    unknown: int
    gains: tuple[float, ...]
    best: str
    worst: str

    @property
    def cells(self) -> int:
        """Number of cells in which both have the metric."""
        return self.better + self.worse + self.alike + self.unknown

    @property
    def in_words(self) -> str:
        """Verdict: `better in 5 of 8 cells, worse in 1`."""
        if not self.better and not self.worse:
            return "not known: one run each" if self.unknown else "not distinguishable"
        parts = [f"{word} in {count}" for word, count in (("better", self.better), ("worse", self.worse)) if count]
        return f"{', '.join(parts)} of {self.cells}"

    def as_json(self) -> dict[str, object]:
        """Return the judgement as a row for programs."""
        identity = {key: getattr(self, key) for key in ("scheme", "baseline", "experiment", "group")}
        counts = {key: getattr(self, key) for key in ("cells", "better", "worse", "alike", "unknown")}
        rest = {"gains": list(self.gains), "best": self.best, "worst": self.worst, "verdict": self.in_words}
        return identity | {"level": self.metric.level, "metric": self.metric.name} | counts | rest


def judgements(benchmark: MeasuredBenchmark) -> Iterator[Judgement]:
    """Yield judgements scheme by scheme, for the headline of each experiment and for the p95 delay.

    Metrics without a better direction, and experiments without the baseline, are left out.
    """
    for scheme in benchmark.examined:
        for baseline in benchmark.benchmark.baselines:
            for experiment in benchmark.experiments:
                if baseline == scheme or not {scheme, baseline} <= set(experiment.labels):
                    continue
                for quantity in dict.fromkeys((experiment.headline, DELAY)):
                    if (judgement := _judgement(experiment, scheme, baseline, quantity)) is not None:
                        yield judgement


def _judgement(experiment: MeasuredExperiment, scheme: str, baseline: str, quantity: Metric) -> Judgement | None:
    if quantity.better == NEITHER or any(rivals(experiment.cells, [scheme, baseline], quantity)):
        return None
    samples = []
    for cell in experiment.cells:
        own_sample, base = _sample(cell, scheme, quantity), _sample(cell, baseline, quantity)
        # with other flows beside a scheme, its gain is the loss of another
        if own_sample.values and base.values and not cell.theirs_of(scheme):
            samples.append((cell, own_sample, base))
    if not samples:
        return None
    sign = -1.0 if quantity.better == LESS else 1.0
    verdicts = judged([(base, own_sample, _KEY) for _, own_sample, base in samples])
    gains = [_gain(base, verdict, sign) for (_, _, base), verdict in zip(samples, verdicts, strict=True)]
    clear = [
        (sign * verdict.difference, cell.label(experiment.axes))
        for (cell, _, _), verdict in zip(samples, verdicts, strict=True)
        if verdict.clear
    ]
    better, worse = [entry for entry in clear if entry[0] > 0], [entry for entry in clear if entry[0] < 0]
    unknown = sum(verdict.noise is Noise.SINGLE for verdict in verdicts)
    return Judgement(
        scheme=scheme,
        baseline=baseline,
        experiment=experiment.name,
        title=experiment.title,
        group=experiment.membership.group,
        metric=quantity,
        better=len(better),
        worse=len(worse),
        alike=len(samples) - len(clear) - unknown,
        unknown=unknown,
        gains=tuple(gain for gain in gains if gain is not None),
        best=max(better)[1] if better else "",
        worst=min(worse)[1] if worse else "",
    )


def _gain(base: Repetitions, verdict: Verdict, sign: float) -> float | None:
    mean = statistics.fmean(base.values[_KEY])
    return sign * verdict.difference / abs(mean) if mean else None


def _sample(cell: MeasuredCell, label: str, quantity: Metric) -> Repetitions:
    """Return the metric of each run of a label that has it; runs of one number have one seed and are pairs."""
    group = Repetitions(cell.name, label)
    for run in cell.good(label):
        value = cell.value(label, run, quantity)
        if value is not None:
            group.put(_KEY, run.planned.seed, value)
    return group
