"""Gymnasium environment with one flow and one agent."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from dumbbell.api.records.figures import Figure
from dumbbell.api.records.one_run import RunResults
from dumbbell.base.errors import UserError
from dumbbell.base.scratch import Scratch
from dumbbell_gym.fields import agents
from dumbbell_gym.memory import Environments, agent_info
from dumbbell_gym.policy import Policy, resolve_policy, spaces_of
from dumbbell_gym.recorded import record_episode
from dumbbell_gym.task import Draw, EnvironmentSpec, PathSource, Rewards, paths_of

Information = dict[str, Any]


class CongestionEnv(gymnasium.Env[np.ndarray, Any]):
    """Flow over a simulated path, controlled by an agent.

    Args:
        path: path as for `dumbbell.run` (a name, a TOML file, a mahimahi trace, a `dumbbell.PathModel`), or several,
            of which each episode uses one.
        policy: a scheme of `dumbbell_gym.agents()`, a name of `PRESETS`, or a `Policy`.
        reward: a name of `REWARDS`, weights of fields of the step by name, or a function of `info`.
        duration_s: length of an episode, s. The first decision after it truncates the episode.
        max_steps: maximum number of decisions of an episode.
        vary: values that each episode draws: `rate_mbps`, `rtt_ms`, `queue_packets`, `queue_bdp`, `loss`, `jitter_ms`,
            `start_mbps`, `start_share` (of the rate), or a JSON pointer into the run. Each has two bounds, or
            `Uniform`, `LogUniform`, `Choice`.
        background: schemes of competing flows.
        background_count: number of competing flows that each episode draws.
        grid: experiment whose paths or cells the episodes use, instead of `path`.
        transport: changes to the policy's transport settings.
        oracle: True to compute `info["oracle"]`.
        metrics: True to add the metrics of an episode to `info["episode"]`. This runs the episode a second time.
        render_mode: `svg` (a string) or `rgb_array`. `render` draws the episode up to now.
        figure: name of the figure that `render` draws.

    Raises:
        dumbbell.Error: an argument is not allowed. The message is one line.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["svg", "rgb_array"],
        "render_fps": 10,
    }

    def __init__(
        self,
        path: PathSource | Sequence[PathSource] = "default",
        *,
        policy: str | Policy = "like-aurora",
        reward: Rewards | Callable[[Information], float] = "aurora",
        duration_s: float = 30.0,
        max_steps: int | None = None,
        vary: Mapping[str, Draw] | None = None,
        background: Sequence[str] = (),
        background_count: Draw | None = None,
        grid: str | None = None,
        transport: Mapping[str, Any] | None = None,
        oracle: bool = True,
        metrics: bool = False,
        render_mode: str | None = None,
        figure: str = "throughput",
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UserError(f"render_mode = `{render_mode}`: allowed are svg, rgb_array")
        self.policy = resolve_policy(policy, agents())
        self._reward = reward if callable(reward) else None
        description = EnvironmentSpec(
            paths_of(path, grid),
            self.policy,
            "none" if callable(reward) else reward,
            1,
            background,
            background_count,
            vary or {},
            duration_s,
            max_steps,
            False,
            oracle,
            transport or {},
        )
        self._environments = Environments(description, 1, 1, "disabled", True)
        environments = self._environments
        self.observation_space, self.action_space = spaces_of(self.policy, environments.inputs, environments.outputs)
        self._discrete = not isinstance(self.action_space, gymnasium.spaces.Box)
        self._metrics, self.render_mode, self._figure = metrics, render_mode, figure
        self._return = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, Information]:
        """Run the next episode up to its first decision. Equal seeds give equal sequences of episodes."""
        if seed is None and self._np_random is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        super().reset(seed=seed)
        self._environments.reset([seed])
        self._return = 0.0
        run_seed, values = self._environments.core.drawn(0)
        info = agent_info(self._environments, 0) | {"seed": run_seed, "drawn": values}
        return self._environments.observations[0].copy(), info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, Information]:  # noqa: ANN401 (Gymnasium's)
        """Apply the action and run to the next decision."""
        environments = self._environments
        environments.write(slice(None), [action], self._discrete)
        environments.step()
        info = agent_info(environments, 0)
        reward = float(environments.rewards[0]) if self._reward is None else float(self._reward(info))
        self._return += reward
        terminated, truncated = bool(environments.terminated[0]), bool(environments.truncated[0])
        if terminated or truncated:
            info["episode"] = {
                "r": self._return,
                "l": int(environments.episodes[0, 1]),
                "t": float(environments.times[0]),
            }
            if self._metrics:
                info["episode"] |= self.run().statistics["flows"][0]
        return environments.observations[0].copy(), reward, terminated, truncated, info

    def run(self, sample_interval_s: float = 0.1) -> RunResults:
        """Return the episode up to now as a run: metrics, packets, samples and figures."""
        return record_episode(self._environments, 0, sample_interval_s)

    def render(self) -> Any:  # noqa: ANN401 (Gymnasium's)
        """Return a figure of the episode up to now."""
        if self.render_mode is None:
            return None
        figure = self.run().figure(self._figure)
        return figure.svg if self.render_mode == "svg" else pixels(figure)


def pixels(figure: Figure) -> np.ndarray:
    """Return a figure as an array of red, green and blue."""
    from PIL import Image

    with Scratch("gym") as folder:
        file = figure.save(folder / "episode.png")
        with Image.open(file) as image:
            return np.asarray(image.convert("RGB"))
