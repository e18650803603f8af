"""An episode as a run of the library: its numbers, packets, samples and figures."""

import json

from dumbbell import _core, catalog
from dumbbell.api.records.one_run import RunResults
from dumbbell.base.backend import SIMULATION
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_file import mix_label
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS
from dumbbell_gym.memory import Environments


def recorded(environments: Environments, index: int, sample_interval_s: float) -> RunResults:
    """The episode of environment number `index` up to now, carried out again with the same actions.

    Raises:
        UserError: no episode has begun, or the spacing of samples is not allowed.
    """
    try:
        text, found, packets, flows, links = environments.core.record(index, sample_interval_s)
    except _core.Error as error:
        raise UserError(str(error)) from None
    specification = json.loads(text)
    statistics = json.loads(found)
    names = [str(flow["scheme"]) for flow in statistics["flows"]]
    mix = mix_label([(name, names.count(name)) for name in dict.fromkeys(names)])
    identity = {"scheme": mix, "path": "", "run": 1, "seed": specification["seed"]}
    return RunResults(
        identity | {"backend": SIMULATION.form, "status": "done", "reason": None} | statistics,
        lambda: specification,
        {PACKETS: packets, FLOWS: flows, LINKS: links},
        {scheme.name: scheme for scheme in catalog.schemes() if scheme.name in names},
    )
