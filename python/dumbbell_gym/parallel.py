"""PettingZoo parallel environment: several agents on one path."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from dumbbell.api.records.one_run import RunResults
from dumbbell.base.errors import UserError
from dumbbell_gym.fields import agents
from dumbbell_gym.memory import Environments, agent_info
from dumbbell_gym.policy import Policy, resolve_policy, spaces_of
from dumbbell_gym.recorded import record_episode
from dumbbell_gym.task import Draw, EnvironmentSpec, PathSource, Rewards, agent_count, paths_of

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError:
    ParallelEnv = None

ByAgent = dict[str, Any]

_BASE: Any = object if ParallelEnv is None else ParallelEnv


class CongestionParallelEnv(_BASE):  # type: ignore[misc]
    """`flows` agents on one path, called `flow_1` and so on.

    A step ends when decisions are due. With steps by time the decisions of all agents are due together. If the decision
    of an agent is not due (`info["due"]` is false), its action is ignored, its observation is its last, its reward 0.

    Args:
        path: path as for `dumbbell.run`, or several, of which each episode uses one.
        flows: number of agents.
        share_reward: True if every agent gets the mean of all rewards.

    The other arguments are those of `CongestionEnv`, with rewards by name or weights.

    Raises:
        dumbbell.Error: an argument is not allowed. The message is one line.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "dumbbell_congestion_v0", "render_modes": ["svg"]}

    def __init__(
        self,
        path: PathSource | Sequence[PathSource] = "default",
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
        self.policy = resolve_policy(policy, agents())
        description = EnvironmentSpec(
            paths_of(path, grid),
            self.policy,
            reward,
            agent_count(flows),
            background,
            background_count,
            vary or {},
            duration_s,
            max_steps,
            share_reward,
            oracle,
            transport or {},
        )
        self._environments = Environments(description, 1, 1, "disabled", True)
        self.possible_agents = [f"flow_{number}" for number in range(1, flows + 1)]
        self.agents: list[str] = []
        environments = self._environments
        observation_space, act = spaces_of(self.policy, environments.inputs, environments.outputs)
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        self.action_spaces = dict.fromkeys(self.possible_agents, act)
        self._discrete = not isinstance(act, spaces.Box)
        self.render_mode, self._figure = render_mode, figure
        self._seeded = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: ByAgent | None = None) -> tuple[ByAgent, ByAgent]:
        """Run the next episode up to its first decisions. Equal seeds give equal sequences of episodes."""
        if seed is None and not self._seeded:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._seeded = True
        self._environments.reset([seed])
        self.agents = list(self.possible_agents)
        return self._observations(), self._infos()

    def step(self, actions: Mapping[str, Any]) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Apply the actions of agents whose decision is due, and run to the next decisions."""
        environments = self._environments
        live = self._rows()
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise UserError(f"actions: none of {missing[0]}: allowed is one of each of {', '.join(self.agents)}")
        environments.write(list(live.values()), [actions[name] for name in live], self._discrete)
        environments.step()
        rewards = {name: float(environments.rewards[row]) for name, row in live.items()}
        terminated = {name: bool(environments.terminated[row]) for name, row in live.items()}
        truncated = {name: bool(environments.truncated[row]) for name, row in live.items()}
        observations, infos = self._observations(), self._infos()
        self.agents = [name for name in self.agents if not (terminated[name] or truncated[name])]
        return observations, rewards, terminated, truncated, infos

    def _rows(self) -> dict[str, int]:
        return {name: self.possible_agents.index(name) for name in self.agents}

    def _observations(self) -> ByAgent:
        return {name: self._environments.observations[row].copy() for name, row in self._rows().items()}

    def _infos(self) -> ByAgent:
        return {name: agent_info(self._environments, row) for name, row in self._rows().items()}

    def run(self, sample_interval_s: float = 0.1) -> RunResults:
        """Return the episode up to now as a run: metrics, packets, samples and figures."""
        return record_episode(self._environments, 0, sample_interval_s)

    def render(self) -> Any:  # noqa: ANN401 (PettingZoo's)
        """Return a figure of the episode up to now."""
        return None if self.render_mode is None else self.run().figure(self._figure).svg

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""
