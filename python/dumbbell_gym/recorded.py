"""Recording of an episode as a run of the library: metrics, packets, samples and figures."""

from typing import TYPE_CHECKING, cast

from dumbbell import catalog, core
from dumbbell.api.records.one_run import RunResults
from dumbbell.base.backend import SIMULATION
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_file import mix_label
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS
from dumbbell_gym.memory import Environments

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable


def record_episode(environments: Environments, index: int, sample_interval_s: float) -> RunResults:
    """Return the episode of environment `index` up to now as a run. The actions are replayed.

    Raises:
        UserError: no episode has begun, or the spacing of samples is not allowed.
    """
    try:
        specification, statistics, packets, flows, links = environments.core.record(index, sample_interval_s)
    except core.Error as error:
        raise UserError(str(error)) from None
    names = [str(flow["scheme"]) for flow in statistics["flows"]]
    mix = mix_label([(name, names.count(name)) for name in dict.fromkeys(names)])
    identity = {"scheme": mix, "path": "", "run": 1, "seed": specification["seed"]}
    return RunResults(
        cast("RunTable", {**identity, "backend": SIMULATION.form, "status": "done", "reason": None, **statistics}),
        lambda: specification,
        {PACKETS: packets, FLOWS: flows, LINKS: links},
        {scheme.name: scheme for scheme in catalog.schemes() if scheme.name in names},
    )
