"""One flow, one agent: a Gymnasium environment."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from dumbbell.api.records.figures import Figure
from dumbbell.api.records.one_run import RunResults
from dumbbell.base.errors import UserError
from dumbbell.base.scratch import Scratch
from dumbbell_gym.fields import agents
from dumbbell_gym.memory import Environments, told
from dumbbell_gym.policy import Policy, chosen, spaces_of
from dumbbell_gym.recorded import recorded
from dumbbell_gym.task import Draw, Given, Rewards, Where, paths_of

Information = dict[str, Any]


class CongestionEnv(gymnasium.Env[np.ndarray, Any]):
    """A flow whose controller is outside, over a simulated path.

    Args:
        path: what `dumbbell.run` takes as a path: a name, a TOML file, a mahimahi trace, a `dumbbell.PathModel`; of
            several, each episode takes one.
        policy: a scheme of `dumbbell_gym.agents()`, a name of `PRESETS`, or a `Policy`.
        reward: a name of `REWARDS`, weights of fields of the step by name, or a function of `info`.
        duration_s: length of an episode: it is truncated at the first decision that is not before.
        max_steps: most decisions of an episode.
        vary: what is drawn for each episode: `rate_mbps`, `rtt_ms`, `queue_packets`, `queue_bdp`, `loss`, `jitter_ms`,
            `start_mbps`, `start_share` (of the rate), or a JSON pointer into the run; each with two bounds, or
            `Uniform`, `LogUniform`, `Choice`.
        background: schemes that send beside the agent.
        background_count: how many of them do, drawn for each episode.
        grid: an experiment whose paths or cells are chosen from, instead of `path`.
        transport: what differs from the transport of the policy.
        oracle: whether `info["oracle"]` is worked out.
        metrics: whether `info["episode"]` has the metrics of the episode, which is carried out once more for them.
        render_mode: `svg` (a text) or `rgb_array`: `render` draws the episode up to now.
        figure: which figure of a run that is.

    Raises:
        dumbbell.Error: something that is not allowed, in one line.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["svg", "rgb_array"],
        "render_fps": 10,
    }

    def __init__(
        self,
        path: Where | Sequence[Where] = "default",
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
        self.policy = chosen(policy, agents())
        self._reward = reward if callable(reward) else None
        given = Given(
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
        self._environments = Environments(given, 1, 1, "disabled", True)
        found = self._environments
        self.observation_space, self.action_space = spaces_of(self.policy, found.inputs, found.outputs)
        self._discrete = not isinstance(self.action_space, gymnasium.spaces.Box)
        self._metrics, self.render_mode, self._figure = metrics, render_mode, figure
        self._return = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, Information]:
        """Runs the next episode up to its first decision; the same seed makes the same episodes."""
        if seed is None and self._np_random is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        super().reset(seed=seed)
        self._environments.reset([seed])
        self._return = 0.0
        run_seed, drawn = self._environments.core.drawn(0)
        info = told(self._environments, 0) | {"seed": run_seed, "drawn": json.loads(drawn)}
        return self._environments.observations[0].copy(), info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, Information]:  # noqa: ANN401 (Gymnasium's)
        """Decides, and runs to the next decision."""
        found = self._environments
        found.write(slice(None), [action], self._discrete)
        found.step()
        info = told(found, 0)
        reward = float(found.rewards[0]) if self._reward is None else float(self._reward(info))
        self._return += reward
        terminated, truncated = bool(found.terminated[0]), bool(found.truncated[0])
        if terminated or truncated:
            info["episode"] = {"r": self._return, "l": int(found.episodes[0, 1]), "t": float(found.times[0])}
            if self._metrics:
                info["episode"] |= self.run().statistics["flows"][0]
        return found.observations[0].copy(), reward, terminated, truncated, info

    def run(self, sample_interval_s: float = 0.1) -> RunResults:
        """The episode up to now as a run: its metrics, packets, samples and figures."""
        return recorded(self._environments, 0, sample_interval_s)

    def render(self) -> Any:  # noqa: ANN401 (Gymnasium's)
        """The episode up to now as a figure."""
        if self.render_mode is None:
            return None
        figure = self.run().figure(self._figure)
        return figure.svg if self.render_mode == "svg" else pixels(figure)


def pixels(figure: Figure) -> np.ndarray:
    """A figure as an array of red, green and blue."""
    from PIL import Image

    with Scratch("gym") as folder:
        file = figure.save(folder / "episode.png")
        with Image.open(file) as image:
            return np.asarray(image.convert("RGB"))
