"""What schemes get over a path: the simulator, asked once for each path and scheme.

Random numbers are common: the runs of a scheme have the same seeds over every path, so that paths differ by what they
are and not by luck.
"""

import json
from collections.abc import Sequence

from dumbbell.base.errors import UserError
from dumbbell.experiment.specification import between_hosts
from dumbbell.studies.calibrate.error import Outcome, Outcomes
from dumbbell.studies.calibrate.journal import Elements, Journal
from dumbbell.studies.calibrate.target import PLACE, Target
from dumbbell.studies.calibrate.workers import Found, Workers


class Objective:
    """The schemes of a target over paths."""

    def __init__(self, target: Target, workers: Workers, journal: Journal) -> None:
        self._workers = workers
        self._journal = journal
        self.simulated = 0
        """Runs that were made, not found in the journal."""
        self._experiment = experiment = target.experiment
        self._runs: dict[str, list[dict[str, object]]] = {scheme: [] for scheme in target.schemes}
        for run in experiment.all_runs():
            self._runs[run.scheme].append(experiment.specification(run))
        self._frame = experiment.paths[PLACE].spec()

    def outcomes(self, paths: Sequence[Elements], schemes: Sequence[str]) -> list[Outcomes]:
        """What each path does to the schemes.

        Raises:
            UserError: a process died, or the cluster is gone.
        """
        missing = [
            (index, scheme)
            for index, path in enumerate(paths)
            for scheme in schemes
            if self._journal.find(path, scheme) is None
        ]
        texts = [self._text(run, paths[index]) for index, scheme in missing for run in self._runs[scheme]]
        found = iter(self._workers.map(texts) if texts else [])
        self.simulated += len(texts)
        made: dict[int, dict[str, list[Found]]] = {}
        for index, scheme in missing:
            made.setdefault(index, {})[scheme] = [next(found) for _ in self._runs[scheme]]
        self._journal.add([(paths[index], runs) for index, runs in made.items()])
        return [self._known(path, schemes) for path in paths]

    def _text(self, run: dict[str, object], path: Elements) -> str:
        return json.dumps(run | {"path": between_hosts(self._frame | dict(path), self._experiment)})

    def _known(self, path: Elements, schemes: Sequence[str]) -> Outcomes:
        outcomes: dict[tuple[str, int], Outcome] = {}
        for scheme in schemes:
            runs = self._journal.find(path, scheme)
            if runs is None:
                raise UserError(f"{scheme}: an evaluation is gone")
            good = [run for run in runs if run is not None]
            if len(runs) != len(self._runs[scheme]) or any(len(run) != len(good[0]) for run in good):
                raise UserError(f"{scheme}: the journal has other runs or flows than the experiment: remove it")
            for flow in range(len(good[0]) if good else 0):
                means = [_mean([run[flow][metric] for run in good]) for metric in range(3)]
                outcomes[scheme, flow] = Outcome(means[0] or 0.0, means[1], means[2])
        return outcomes


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
