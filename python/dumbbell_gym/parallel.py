"""Several agents on one path: a PettingZoo parallel environment."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from dumbbell.api.records.one_run import RunResults
from dumbbell.base.errors import UserError
from dumbbell_gym.fields import agents
from dumbbell_gym.memory import Environments, told
from dumbbell_gym.policy import Policy, chosen, spaces_of
from dumbbell_gym.recorded import recorded
from dumbbell_gym.task import Draw, Given, Rewards, Where, paths_of, whole

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError:
    ParallelEnv = None

Each = dict[str, Any]

_BASE: Any = object if ParallelEnv is None else ParallelEnv


class CongestionParallelEnv(_BASE):  # type: ignore[misc]
    """`flows` agents on one path, called `flow_1` and so on.

    A step goes on until decisions are due: with steps by time those of all agents are due together. Where they are not
    (`info["due"]` is false), the action of an agent is not looked at, its observation is its last, its reward 0.

    Args:
        path: what `dumbbell.run` takes as a path; of several, each episode takes one.
        flows: how many agents.
        share_reward: whether every agent gets the mean of all rewards.

    The others are those of `CongestionEnv`, with rewards by name or weights.

    Raises:
        dumbbell.Error: something that is not allowed, in one line.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "dumbbell_congestion_v0", "render_modes": ["svg"]}

    def __init__(
        self,
        path: Where | Sequence[Where] = "default",
        *,
        flows: int = 2,
        policy: str | Policy = "like-aurora",
        reward: Rewards = "log_share",
        share_reward: bool = False,
        duration_s: float = 30.0,
        max_steps: int | None = None,
        vary: Mapping[str, Draw] | None = None,
        background: Sequence[str] = (),
        background_count: Draw | None = None,
        grid: str | None = None,
        transport: Mapping[str, Any] | None = None,
        oracle: bool = True,
        render_mode: str | None = None,
        figure: str = "staircase",
    ) -> None:
        if ParallelEnv is None:
            raise UserError("CongestionParallelEnv needs pettingzoo: pip install 'dumbbell[gym]'")
        if render_mode not in (None, "svg"):
            raise UserError(f"render_mode = `{render_mode}`: allowed is svg")
        self.policy = chosen(policy, agents())
        given = Given(
            paths_of(path, grid),
            self.policy,
            reward,
            whole(flows),
            background,
            background_count,
            vary or {},
            duration_s,
            max_steps,
            share_reward,
            oracle,
            transport or {},
        )
        self._environments = Environments(given, 1, 1, "disabled", True)
        self.possible_agents = [f"flow_{number}" for number in range(1, flows + 1)]
        self.agents: list[str] = []
        found = self._environments
        seen, act = spaces_of(self.policy, found.inputs, found.outputs)
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces = dict.fromkeys(self.possible_agents, act)
        self._discrete = not isinstance(act, spaces.Box)
        self.render_mode, self._figure = render_mode, figure
        self._seeded = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent does."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Each | None = None) -> tuple[Each, Each]:
        """Runs the next episode up to its first decisions; the same seed makes the same episodes."""
        if seed is None and not self._seeded:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._seeded = True
        self._environments.reset([seed])
        self.agents = list(self.possible_agents)
        return self._seen(), self._told()

    def step(self, actions: Mapping[str, Any]) -> tuple[Each, Each, Each, Each, Each]:
        """Decides for every agent whose decision is due, and runs to the next ones."""
        found = self._environments
        live = self._rows()
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise UserError(f"actions: none of {missing[0]}: allowed is one of each of {', '.join(self.agents)}")
        found.write(list(live.values()), [actions[name] for name in live], self._discrete)
        found.step()
        rewards = {name: float(found.rewards[row]) for name, row in live.items()}
        terminated = {name: bool(found.terminated[row]) for name, row in live.items()}
        truncated = {name: bool(found.truncated[row]) for name, row in live.items()}
        seen, infos = self._seen(), self._told()
        self.agents = [name for name in self.agents if not (terminated[name] or truncated[name])]
        return seen, rewards, terminated, truncated, infos

    def _rows(self) -> dict[str, int]:
        return {name: self.possible_agents.index(name) for name in self.agents}

    def _seen(self) -> Each:
        return {name: self._environments.observations[row].copy() for name, row in self._rows().items()}

    def _told(self) -> Each:
        return {name: told(self._environments, row) for name, row in self._rows().items()}

    def run(self, sample_interval_s: float = 0.1) -> RunResults:
        """The episode up to now as a run: its metrics, packets, samples and figures."""
        return recorded(self._environments, 0, sample_interval_s)

    def render(self) -> Any:  # noqa: ANN401 (PettingZoo's)
        """The episode up to now as a figure."""
        return None if self.render_mode is None else self.run().figure(self._figure).svg

    def close(self) -> None:
        """Nothing is left."""
