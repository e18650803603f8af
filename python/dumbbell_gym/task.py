"""Tasks: the paths of episodes, varied parameters, and background flows."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

from dumbbell import catalog
from dumbbell.api.listing import experiments
from dumbbell.api.running import specification
from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.experiment_settings import MOST_FLOWS
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.trust import trusted
from dumbbell.experiment.specification import fitted_transport
from dumbbell_gym.fields import OWN, REWARDS, agents
from dumbbell_gym.policy import Policy, resolve_policy

PathSource = str | PathModel | PathLike[str]
Rewards = str | Mapping[str, float]


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution from `low` to `high`; the fraction `zero` of episodes gets 0."""

    low: float
    high: float
    zero: float = 0.0

    def table(self) -> dict[str, object]:
        """Return the table for the core."""
        return {"kind": "uniform", "low": float(self.low), "high": float(self.high), "zero": float(self.zero)}


@dataclass(frozen=True)
class LogUniform(Uniform):
    """Distribution whose logarithm is uniform from `low` to `high`."""

    def table(self) -> dict[str, object]:
        """Return the table for the core."""
        return super().table() | {"kind": "log-uniform"}


@dataclass(frozen=True)
class Choice:
    """Choice among `values` with equal probability."""

    values: Sequence[float]

    def table(self) -> dict[str, object]:
        """Return the table for the core."""
        return {"kind": "choice", "values": [float(value) for value in self.values]}


_STARTS = {OWN: "start_mbps", "aurora": "initial_rate"}
"""Parameter that sets the rate before the first decision, by scheme."""

Draw = Uniform | LogUniform | Choice | tuple[float, float]


def agent_count(flows: object) -> int:
    """Return the number of agents that share a path.

    Raises:
        UserError: something else.
    """
    if isinstance(flows, bool) or not isinstance(flows, int) or not 1 <= flows <= MOST_FLOWS:
        raise UserError(f"flows = {flows!r}: allowed is a whole number from 1 to {MOST_FLOWS}")
    return flows


def draw_table(value: Draw, name: str) -> dict[str, Any]:
    """Return the distribution of a value as a table. A pair means two bounds."""
    if isinstance(value, tuple) and len(value) == 2:
        value = Uniform(*value)
    if not isinstance(value, Uniform | Choice):
        raise UserError(f"{name} = {value!r}: allowed are (LOW, HIGH), Uniform, LogUniform, Choice")
    return value.table()


def paths_of(path: PathSource | Sequence[PathSource], grid: str | None) -> list[PathSource]:
    """Return all paths that episodes can use: the arguments, or the cells of an experiment."""
    if grid is not None:
        return list(trusted(experiments().find(grid), RunRequest(), trust=False).paths.values())
    several = isinstance(path, Sequence) and not isinstance(path, str)
    paths: list[PathSource] = list(path) if several else [path]  # type: ignore[arg-type,list-item]
    if not paths:
        raise UserError("path: at least one is needed")
    return paths


@dataclass(frozen=True)
class EnvironmentSpec:
    """Description of an environment."""

    paths: Sequence[PathSource]
    policy: str | Policy
    reward: Rewards
    agents: int
    background: Sequence[str]
    background_count: Draw | None
    vary: Mapping[str, Draw]
    duration_s: float
    max_steps: int | None
    share_reward: bool
    oracle: bool
    transport: Mapping[str, Any]

    def task(self) -> dict[str, object]:
        """Return the task for the core.

        Raises:
            UserError: something that is not allowed.
        """
        policy = resolve_policy(self.policy, agents())
        return {
            "scenarios": [self._scenario(path, policy) for path in self.paths],
            "agents": self.agents,
            "policy": policy.line() if isinstance(policy, Policy) else None,
            "reward": reward_table(self.reward),
            "share_reward": self.share_reward,
            "oracle": self.oracle,
            "duration_s": float(self.duration_s),
            "most_steps": self.max_steps,
        }

    def _scenario(self, path: PathSource, policy: str | Policy) -> dict[str, Any]:
        if not isinstance(path, PathModel):
            path = fspath(path)
        is_policy = isinstance(policy, Policy)
        name = OWN if is_policy else str(policy)
        # The first flow stands for the agents, which replace it.
        run = specification(mix="+".join(["cubic", *self.background]), path=path, duration=max(1.0, self.duration_s))
        first, others_in_run = run["flows"][0], run["flows"][1:]
        is_scheme = catalog.schemes().knows(name)
        scheme = replace(catalog.schemes().find(name if is_scheme else "cubic"), name=name)
        if not is_scheme:
            scheme = replace(scheme, parameters={}, transport={"profile": "datagram"})
        model = PathModel(name="path", title="", **run["path"])
        agent = first | {
            "scheme": name,
            "controller": f"agent-{name}",
            "parameters": {"policy": "policy", "start_mbps": "0"} if is_policy else _without_files(scheme.parameters),
            "transport": {**fitted_transport(scheme, model), **self.transport},
            "application": scheme.application,
        }
        run["flows"] = [*(deepcopy(agent) for _ in range(self.agents)), *others_in_run]
        for flow in run["flows"]:
            flow["stop_s"] = None  # the core's runs last longer than the episodes
        del run["warmup_s"]
        variations = [variation(name, draw, run, self) for name, draw in self.vary.items()]
        background = self.background_count
        return {
            "run": run,
            "variations": variations,
            "background": None if background is None else draw_table(background, "background_count"),
        }


def _without_files(parameters: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if name != "weights"}


def reward_table(reward: Rewards) -> dict[str, Any]:
    """Return the reward as a table for the core.

    Raises:
        UserError: there is no such reward.
    """
    if isinstance(reward, Mapping):
        return {"kind": "fields", "weights": {name: float(weight) for name, weight in reward.items()}}
    if reward not in REWARDS or reward == "fields":
        names = [name for name in REWARDS if name != "fields"]
        raise UserError(f"reward = `{reward}`: allowed are {listed(names)}, or weights of fields by name")
    return {"kind": reward}


def variation(name: str, draw: Draw, run: dict[str, Any], description: EnvironmentSpec) -> dict[str, Any]:
    """Return a varied parameter with its targets in the run spec.

    Raises:
        UserError: the path has nothing of that kind.
    """
    targets = [{"pointer": name}] if name.startswith("/") else _targets(name, run, description)
    return {"name": name, "draw": draw_table(draw, name), "targets": targets}


def _targets(name: str, run: dict[str, Any], description: EnvironmentSpec) -> list[dict[str, Any]]:
    names = ("rate_mbps", "rtt_ms", "queue_packets", "queue_bdp", "loss", "jitter_ms", "start_mbps", "start_share")
    if name not in names:
        raise UserError(f"vary = `{name}`: allowed are {listed(names)}, or a JSON pointer into the run")
    data = run["path"]["data"]
    if name == "rate_mbps":
        return [{"pointer": f"/path/data/{_place(data, 'link', name)}/rate_mbps"}]
    if name == "rtt_ms":
        return [
            {"pointer": f"/path/{direction}/{_place(run['path'][direction], 'delay', name)}/delay_ms", "scale": 0.5}
            for direction in ("data", "ack")
        ]
    if name in ("queue_packets", "queue_bdp"):
        return [_queue(name, data, run, description)]
    if name == "loss":
        if not any(element["kind"] == "loss" for element in data):
            data.append({"kind": "loss", "probability": 0.0})
        return [{"pointer": f"/path/data/{_place(data, 'loss', name)}/probability"}]
    if name == "jitter_ms":
        return [{"pointer": f"/path/data/{_place(data, 'jitter', name)}/mean_ms"}]
    agents = run["flows"][: description.agents]
    start = _STARTS.get(agents[0]["scheme"])
    if start is None:
        raise UserError(f"vary = `{name}`: allowed with a policy of one's own or aurora, which start at a rate")
    for agent in agents:
        agent["parameters"].setdefault(start, "")  # a place for what is drawn
    share = {"by": ["rate_mbps"]} if name == "start_share" else {}
    return [
        {"pointer": f"/flows/{place}/parameters/{start}", "text": True, "least": 0.01} | share
        for place in range(description.agents)
    ]


def _place(elements: list[dict[str, Any]], kind: str, name: str) -> int:
    """Return the index of the only element of `kind`."""
    indices = [index for index, element in enumerate(elements) if element["kind"] == kind]
    if len(indices) != 1:
        raise UserError(
            f"vary = `{name}`: the path has {len(indices)} elements `{kind}` in a direction: allowed is one"
        )
    return indices[0]


def _queue(name: str, data: list[dict[str, Any]], run: dict[str, Any], description: EnvironmentSpec) -> dict[str, Any]:
    place = _place(data, "link", name)
    link = data[place]
    queue = link.setdefault("queue", {"kind": "droptail"})
    if queue.get("kind", "droptail") == "infinite":
        queue = link["queue"] = {"kind": "droptail"}
    queue.pop("bytes", None)
    queue["packets"] = 1
    target: dict[str, Any] = {"pointer": f"/path/data/{place}/queue/packets", "whole": True, "least": 1.0}
    if name == "queue_packets":
        return target
    by = [key for key in ("rate_mbps", "rtt_ms") if key in description.vary]
    scale = 1e3 / 8 / 1500
    if "rate_mbps" not in by:
        scale *= float(link["rate_mbps"])
    if "rtt_ms" not in by:
        elements = [*data, *run["path"]["ack"]]
        scale *= sum(float(element["delay_ms"]) for element in elements if element["kind"] == "delay")
    return target | {"by": by, "scale": scale}
