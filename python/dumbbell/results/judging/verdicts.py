"""Whether a scheme under test beats a baseline: in how many cells beyond the noise of the runs, how much, and where."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from dumbbell.results.analysis.findings.noise import Noise, Verdict, judged
from dumbbell.results.analysis.summary import MetricKey, Repetitions
from dumbbell.results.judging.direction import LESS, NEITHER, Metric, metric
from dumbbell.results.judging.measured import MeasuredBenchmark, MeasuredCell, MeasuredExperiment, rivals

DELAY = metric("network", "owd_p95_ms")
"""What is judged beside the number that stands for an experiment."""

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
        """How many cells both have the metric in."""
        return self.better + self.worse + self.alike + self.unknown

    @property
    def in_words(self) -> str:
        """The verdict: `better in 5 of 8 cells, worse in 1`."""
        if not self.better and not self.worse:
            return "not known: one run each" if self.unknown else "not distinguishable"
        parts = [f"{word} in {count}" for word, count in (("better", self.better), ("worse", self.worse)) if count]
        return f"{', '.join(parts)} of {self.cells}"

    def as_json(self) -> dict[str, object]:
        """It as a row for programs."""
        named = {key: getattr(self, key) for key in ("scheme", "baseline", "experiment", "group")}
        counts = {key: getattr(self, key) for key in ("cells", "better", "worse", "alike", "unknown")}
        rest = {"gains": list(self.gains), "best": self.best, "worst": self.worst, "verdict": self.in_words}
        return named | {"level": self.metric.level, "metric": self.metric.name} | counts | rest


def judgements(measured: MeasuredBenchmark) -> Iterator[Judgement]:
    """Yield them scheme by scheme, for the number that stands for each experiment and for the p95 delay.

    Metrics of which no direction is better, and experiments without the baseline, are left out.
    """
    for scheme in measured.examined:
        for baseline in measured.benchmark.baselines:
            for found in measured.experiments:
                if baseline == scheme or not {scheme, baseline} <= set(found.labels):
                    continue
                for each in dict.fromkeys((found.headline, DELAY)):
                    if (made := _judgement(found, scheme, baseline, each)) is not None:
                        yield made


def _judgement(found: MeasuredExperiment, scheme: str, baseline: str, each: Metric) -> Judgement | None:
    if each.better == NEITHER or any(rivals(found.cells, [scheme, baseline], each)):
        return None
    compared = []
    for cell in found.cells:
        ours, theirs = _sample(cell, scheme, each), _sample(cell, baseline, each)
        # where others run beside them, what a scheme takes is taken from somebody
        if ours.values and theirs.values and not cell.theirs_of(scheme):
            compared.append((cell, ours, theirs))
    if not compared:
        return None
    sign = -1.0 if each.better == LESS else 1.0
    verdicts = judged([(theirs, ours, _KEY) for _, ours, theirs in compared])
    gains = [_gain(theirs, verdict, sign) for (_, _, theirs), verdict in zip(compared, verdicts, strict=True)]
    clear = [
        (sign * verdict.difference, cell.label(found.axes))
        for (cell, _, _), verdict in zip(compared, verdicts, strict=True)
        if verdict.clear
    ]
    better, worse = [each for each in clear if each[0] > 0], [each for each in clear if each[0] < 0]
    unknown = sum(verdict.noise is Noise.SINGLE for verdict in verdicts)
    return Judgement(
        scheme=scheme,
        baseline=baseline,
        experiment=found.name,
        title=found.title,
        group=found.membership.group,
        metric=each,
        better=len(better),
        worse=len(worse),
        alike=len(compared) - len(clear) - unknown,
        unknown=unknown,
        gains=tuple(gain for gain in gains if gain is not None),
        best=max(better)[1] if better else "",
        worst=min(worse)[1] if worse else "",
    )


def _gain(theirs: Repetitions, verdict: Verdict, sign: float) -> float | None:
    mean = statistics.fmean(theirs.values[_KEY])
    return sign * verdict.difference / abs(mean) if mean else None


def _sample(cell: MeasuredCell, label: str, each: Metric) -> Repetitions:
    """The metric of each run of a label that has it. Runs of one number have one seed: they are pairs."""
    group = Repetitions(cell.name, label)
    for run in cell.good(label):
        value = cell.value(label, run, each)
        if value is not None:
            group.put(_KEY, run.planned.seed, value)
    return group
