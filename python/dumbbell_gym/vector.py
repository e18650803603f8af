"""Thousands of environments in one call."""

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
from dumbbell_gym.policy import Policy, chosen, spaces_of
from dumbbell_gym.recorded import recorded
from dumbbell_gym.task import Draw, Given, Rewards, Where, paths_of, whole

Information = dict[str, Any]

MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}


class CongestionVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`num_envs` flows, each over a path of its own, stepped by the core on `threads` threads.

    The arguments are those of `CongestionEnv` (rewards by name or weights), and:

    Args:
        path: what `dumbbell.run` takes as a path; of several, each episode takes one.
        num_envs: how many environments: with all their flows 65,536 at most.
        flows: agents of each environment. With several, a row is an agent: those of the first environment, then those
            of the second, and so on; `info["due"]` says whose decision is due, as of `CongestionParallelEnv`.
        share_reward: whether every agent of an environment gets the mean of all rewards.
        threads: threads of the core; all processors unless given. They change nothing in results. In a fork of the
            process that made them there are none: several are refused there, one goes on.
        autoreset_mode: of Gymnasium, or its name.
        copy: whether observations, rewards and flags are copies. Without, they are the core's own memory, which the
            next step changes: for those who copy anyway, as into a tensor.
        keeps: whether episodes can be recorded (`run`): their actions are kept.

    Raises:
        dumbbell.Error: something that is not allowed, in one line.
    """

    action_space: spaces.Space[Any]
    single_action_space: spaces.Space[Any]
    observation_space: spaces.Space[Any]
    single_observation_space: spaces.Space[Any]

    def __init__(
        self,
        path: Where | Sequence[Where] = "default",
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
        self.policy = chosen(policy, agents())
        if callable(reward):
            raise UserError("reward: allowed is a name or weights: a function would be called at every step")
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(each.value for each in AutoresetMode)
            raise UserError(f"autoreset_mode = `{autoreset_mode}`: allowed are {known}") from None
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
        self.environments = Environments(given, num_envs, threads, MODES[mode], keeps)
        found = self.environments
        self.num_envs, self.flows, self._mode, self._copy = found.rows, flows, mode, copy
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.single_observation_space, self.single_action_space = spaces_of(self.policy, found.inputs, found.outputs)
        self.observation_space = batch_space(self.single_observation_space, found.rows)
        self.action_space = batch_space(self.single_action_space, found.rows)
        self._discrete = not isinstance(self.single_action_space, spaces.Box)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, Information]:
        """Begins episodes; `seed` is of the first environment, the others have the following ones, or a list of all.

        Seeds and masks are of environments, not of rows.

        With `options={"reset_mask": ...}` (autoreset disabled), of those environments only.
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
            mask = [bool(each) for each in np.asarray(mask).reshape(-1)]
            if len(mask) != count or not any(mask):
                raise UserError(f"reset_mask: allowed are {count} flags, at least one of them true")
        self.environments.reset(seeds, mask)
        return self._given(self.environments.observations), self._information()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Information]:  # noqa: ANN401
        """Decides in every environment, and runs each to its next decision."""
        found = self.environments
        found.write(slice(None), actions, self._discrete)
        if self._mode is AutoresetMode.DISABLED:
            over = (found.terminated | found.truncated).reshape(found.count, self.flows).all(axis=1)
            if over.any():
                which = np.flatnonzero(over)[:5].tolist()
                raise UserError(f"environments {which}: their episodes are over: reset them first (reset_mask)")
        found.step()
        info = self._information()
        if found.ended.any():
            ended = np.repeat(found.ended, self.flows)
            info["episode"] = {
                "r": found.episodes[:, 0].copy(),
                "l": found.episodes[:, 1].astype(np.int64),
                "t": np.repeat(found.times, self.flows),
            }
            info["_episode"] = ended
            if self._mode is AutoresetMode.SAME_STEP:
                last = np.full(self.num_envs, None, dtype=object)
                for index in np.flatnonzero(ended):
                    last[index] = found.final_observations[index].copy()
                info["final_obs"], info["_final_obs"] = last, ended
                info["final_info"] = {"episode": info["episode"], "_episode": ended}
                info["_final_info"] = ended
        return (
            self._given(found.observations),
            self._given(found.rewards),
            self._given(found.terminated),
            self._given(found.truncated),
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
        """The episode of an environment up to now as a run, where actions are kept (`keeps`)."""
        return recorded(self.environments, index // self.flows, sample_interval_s)
