"""Vector environment: thousands of environments in one call."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dumbbell.api.records.one_run import RunResults
from dumbbell.base.errors import UserError
from dumbbell_gym.fields import ORACLE, STEP, agents
from dumbbell_gym.memory import Environments
from dumbbell_gym.policy import Policy, resolve_policy, spaces_of
from dumbbell_gym.recorded import record_episode
from dumbbell_gym.task import Draw, EnvironmentSpec, PathSource, Rewards, agent_count, paths_of

Information = dict[str, Any]

MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}


class CongestionVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Vector of `num_envs` flows, each over its own path. The core steps them on `threads` threads.

    The arguments are those of `CongestionEnv` (rewards by name or weights) and:

    Args:
        path: path as for `dumbbell.run`, or several, of which each episode uses one.
        num_envs: number of environments. The maximum of all their flows is 65,536.
        flows: number of agents of each environment. Rows are agents: first those of the first environment, then
            those of the second, and so on. `info["due"]` is true for agents whose decision is due.
        share_reward: True if every agent gets the mean reward of its environment.
        threads: number of threads of the core; default: one per CPU. Results do not depend on it. A forked process has
            none of the threads: an environment with several threads raises an error there, one thread works.
        autoreset_mode: Gymnasium's mode or its name.
        copy: True to return copies of observations, rewards and flags. Otherwise they are the core's memory, which the
            next step changes: for callers that copy the values anyway, for example into a tensor.
        keeps: True to store the actions, so that episodes can be recorded (`run`).

    Raises:
        dumbbell.Error: an argument is not allowed. The message is one line.
    """

    action_space: spaces.Space[Any]
    single_action_space: spaces.Space[Any]
    observation_space: spaces.Space[Any]
    single_observation_space: spaces.Space[Any]

    def __init__(
        self,
        path: PathSource | Sequence[PathSource] = "default",
        *,
        num_envs: int = 1,
        flows: int = 1,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        keeps: bool = False,
        policy: str | Policy = "like-aurora",
        reward: Rewards = "aurora",
        duration_s: float = 30.0,
        max_steps: int | None = None,
        vary: Mapping[str, Draw] | None = None,
        background: Sequence[str] = (),
        background_count: Draw | None = None,
        grid: str | None = None,
        transport: Mapping[str, Any] | None = None,
        share_reward: bool = False,
        oracle: bool = True,
    ) -> None:
        self.policy = resolve_policy(policy, agents())
        if callable(reward):
            raise UserError("reward: allowed is a name or weights: a function would be called at every step")
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(member.value for member in AutoresetMode)
            raise UserError(f"autoreset_mode = `{autoreset_mode}`: allowed are {modes}") from None
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
        self.environments = Environments(description, num_envs, threads, MODES[mode], keeps)
        environments = self.environments
        self.num_envs, self.flows, self._mode, self._copy = environments.rows, flows, mode, copy
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.single_observation_space, self.single_action_space = spaces_of(
            self.policy, environments.inputs, environments.outputs
        )
        self.observation_space = batch_space(self.single_observation_space, environments.rows)
        self.action_space = batch_space(self.single_action_space, environments.rows)
        self._discrete = not isinstance(self.single_action_space, spaces.Box)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, Information]:
        """Begin episodes. `seed` is a list, or the seed of the first environment, from which the next ones count up.

        Seeds and masks belong to environments, not to rows.

        With `options={"reset_mask": ...}` (autoreset disabled), only the masked environments begin episodes.
        """
        mask = None if options is None else options.get("reset_mask")
        count = self.environments.count
        if seed is None:
            first = None if self._np_random is not None else int(np.random.SeedSequence().generate_state(1)[0])
            seeds: list[int | None] = [None if first is None else first + index for index in range(count)]
            if first is not None:
                super().reset(seed=first)
        elif isinstance(seed, list | tuple):
            if len(seed) != count:
                raise UserError(f"seed: {len(seed)} of them: allowed are {count}, or one number")
            seeds = list(seed)
        else:
            super().reset(seed=seed)
            seeds = [seed + index for index in range(count)]
        if mask is not None:
            mask = [bool(flag) for flag in np.asarray(mask).reshape(-1)]
            if len(mask) != count or not any(mask):
                raise UserError(f"reset_mask: allowed are {count} flags, at least one of them true")
        self.environments.reset(seeds, mask)
        return self._given(self.environments.observations), self._information()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Information]:  # noqa: ANN401
        """Apply the actions in every environment, and run each to its next decision."""
        environments = self.environments
        environments.write(slice(None), actions, self._discrete)
        if self._mode is AutoresetMode.DISABLED:
            over = (
                (environments.terminated | environments.truncated).reshape(environments.count, self.flows).all(axis=1)
            )
            if over.any():
                indices = np.flatnonzero(over)[:5].tolist()
                raise UserError(f"environments {indices}: their episodes are over: reset them first (reset_mask)")
        environments.step()
        info = self._information()
        if environments.ended.any():
            episode_ends = np.repeat(environments.ended, self.flows)
            info["episode"] = {
                "r": environments.episodes[:, 0].copy(),
                "l": environments.episodes[:, 1].astype(np.int64),
                "t": np.repeat(environments.times, self.flows),
            }
            info["_episode"] = episode_ends
            if self._mode is AutoresetMode.SAME_STEP:
                last = np.full(self.num_envs, None, dtype=object)
                for index in np.flatnonzero(episode_ends):
                    last[index] = environments.final_observations[index].copy()
                info["final_obs"], info["_final_obs"] = last, episode_ends
                info["final_info"] = {"episode": info["episode"], "_episode": episode_ends}
                info["_final_info"] = episode_ends
        return (
            self._given(environments.observations),
            self._given(environments.rewards),
            self._given(environments.terminated),
            self._given(environments.truncated),
            info,
        )

    def _given(self, values: np.ndarray) -> np.ndarray:
        return values.copy() if self._copy else values

    def _information(self) -> Information:
        values, oracle = self._given(self.environments.values), self._given(self.environments.oracle)
        return {
            "due": self._given(self.environments.due),
            "step": {field.name: values[:, place] for place, field in enumerate(STEP)},
            "oracle": {field.name: oracle[:, place] for place, field in enumerate(ORACLE)},
        }

    def run(self, index: int, sample_interval_s: float = 0.1) -> RunResults:
        """Return the episode of an environment up to now as a run. Requires recorded actions (`keeps`)."""
        return record_episode(self.environments, index // self.flows, sample_interval_s)
