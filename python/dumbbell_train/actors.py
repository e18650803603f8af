"""Trainers `aurora` and `fair`: networks that learn by reinforcement in `dumbbell_gym` (`ppo.py`)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError
from dumbbell.base.json_text import parse_json
from dumbbell.base.json_types import typed
from dumbbell.catalog.options.values import count
from dumbbell_train.trainer import Setting, Trainer
from dumbbell_train.values import large_number, number, span

if TYPE_CHECKING:
    import numpy as np

    from dumbbell_gym import CongestionVectorEnv, Policy
    from dumbbell_train.job import Job
    from dumbbell_train.ppo import Learner, Recipe

NEEDED = "needs gymnasium, jax and optax: pip install 'dumbbell[train]'"
ANOTHER = "allowed is a file of this trainer"
KEPT_EVERY_S = 5.0
"""Interval between two writes of the file, s."""
LONGEST_S = 50_000.0
"""Maximum length of episodes that end by their number of decisions, s."""

SEES = (
    "ack_rate",
    "send_ratio",
    "queueing_delay",
    "standing_delay",
    "latency_ratio",
    "loss_ratio",
    "rtt_min",
    "window",
    "latency_inflation",
    "last_action",
)
"""Inputs of the fair policy per recent step: its own rate and the delay, from which a fair share can be inferred."""


@dataclass(frozen=True)
class Lessons:
    """Environments, recipe and policy of a trainer."""

    envs: "list[CongestionVectorEnv]"
    recipe: "Recipe"
    policy: "Policy | None" = None
    """Policy, unless a scheme has it."""


def _aurora(settings: dict[str, Any], jobs: int) -> Lessons:
    """Return the environments of Aurora's authors (PCCproject/PCC-RL@64bea6ee, `src/gym/network_sim.py`)."""
    import dumbbell
    import dumbbell_gym as gym
    from dumbbell_train.ppo import Recipe

    env = gym.CongestionVectorEnv(
        dumbbell.make_path(rate="1mbit", rtt="100ms", queue="100p", loss="1%"),
        num_envs=settings["networks"],
        threads=jobs,
        copy=False,
        policy="aurora",
        reward="aurora",
        duration_s=LONGEST_S,
        max_steps=settings["decisions"],
        vary={
            "rate_mbps": settings["rate_mbps"],
            "rtt_ms": settings["rtt_ms"],
            "queue_packets": gym.LogUniform(*settings["queue_packets"]),
            "loss": (0.0, settings["loss"]),
            "start_share": settings["start_share"],
        },
    )
    return Lessons([env], Recipe(steps=settings["steps"], gamma=settings["gamma"]))


def _fair(settings: dict[str, Any], jobs: int) -> Lessons:
    """Return worlds with one to `flows` flows of one policy that start in turn. Each agent gets the mean reward."""
    import dumbbell
    import dumbbell_gym as gym
    from dumbbell_train.ppo import Recipe

    policy = gym.Policy(SEES, history=3, action="cwnd_mult2:0.5", step="rtt:1")
    vary: dict[str, Any] = {
        "rate_mbps": gym.LogUniform(*settings["rate_mbps"]),
        "rtt_ms": gym.LogUniform(*settings["rtt_ms"]),
        "queue_bdp": gym.LogUniform(*settings["buffer_bdp"]),
        "loss": gym.Uniform(0.0, settings["loss"], zero=0.5),
    }

    def world(flows: int) -> "CongestionVectorEnv":
        joins = {f"/flows/{flow}/start_s": (0.0, settings["joins_s"]) for flow in range(1, flows)}
        return gym.CongestionVectorEnv(
            dumbbell.make_path(rate="10mbit", rtt="50ms", queue="100p"),
            num_envs=settings["networks"],
            flows=flows,
            threads=jobs,
            copy=False,
            policy=policy,
            reward="log_share",
            share_reward=True,
            duration_s=settings["seconds"],
            vary=vary | joins,
        )

    recipe = Recipe(
        steps=settings["steps"],
        horizon=96,
        epochs=5,
        rate=7e-4,
        gamma=settings["gamma"],
        entropy=0.003,
        hidden_units=(64, 32),
        spread=0.5,
    )
    return Lessons([world(flows) for flows in range(1, settings["flows"] + 1)], recipe, policy)


def _training(make: Callable[[dict[str, Any], int], Lessons]) -> "Callable[[Job], None]":
    """Return the function that trains in the environments from `make`, from the start or from the state in a file."""

    def train(job: "Job") -> None:
        try:
            from dumbbell_train.ppo import Learner, World
        except (ModuleNotFoundError, UserError):
            raise UserError(f"dumbbell train {job.kind} {NEEDED}") from None
        lessons = make(job.settings, job.jobs)
        tensors, steps = _earlier_state(job)
        worlds = [World(env, _seed(job.seed, world, steps)) for world, env in enumerate(lessons.envs)]
        learner = Learner(worlds, lessons.recipe, job.seed)
        if tensors:
            try:
                learner.remember(tensors, steps)
            except (ValueError, KeyError):
                raise UserError(f"{job.file}: {ANOTHER}") from None
        clock = job.progress.clock
        last_write = start = clock.monotonic()
        while learner.steps < lessons.recipe.steps and clock.monotonic() - start < 60.0 * job.minutes:
            learner.iterate()
            is_due = clock.monotonic() - last_write > KEPT_EVERY_S
            last_write = clock.monotonic() if is_due else last_write
            job.tell(_status(learner), _file(learner, job, lessons.policy) if is_due else None)
        job.tell(_status(learner), _file(learner, job, lessons.policy))

    return train


def _seed(seed: int, world: int, steps: int) -> int:
    """Return the seed of a world's first environment; the next ones count up. A resumed training gets other seeds."""
    import numpy as np

    return int(np.random.SeedSequence([seed, world, steps]).generate_state(1, np.uint64)[0] >> 1)


def _status(learner: "Learner") -> str:
    return f"{learner.steps} of {learner.recipe.steps} decisions, reward of a decision {learner.reward:.3f}"


def _file(learner: "Learner", job: "Job", policy: "Policy | None") -> bytes:
    """Return the contents of the file: the network, and the state to resume from."""
    from dumbbell_gym.export import to_safetensors

    training = {"trainer": job.kind, "seed": job.seed, "settings": job.settings, "steps": learner.steps}
    metadata = {"layers": learner.layers(), "training": json.dumps(training)}
    metadata |= {} if policy is None else {"policy": policy.line()}
    try:
        return to_safetensors(learner.tensors() | learner.memory(), metadata)
    except ValueError as error:
        raise UserError(f"training: {error}: it has come to nothing: another seed may do") from None


def _earlier_state(job: "Job") -> "tuple[dict[str, np.ndarray], int]":
    """Return the tensors of an earlier training and its number of decisions; empty and 0 at the start."""
    if job.start is None:
        return {}, 0
    from dumbbell_gym.export import from_safetensors

    try:
        tensors, metadata = from_safetensors(job.start)
        training = parse_json(metadata["training"])
        words = training["trainer"], training["seed"], training["settings"] | {"steps": job.settings["steps"]}
        steps = typed(training["steps"], int)
        if steps < 0 or not tensors:
            raise ValueError(steps)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{job.file}: {ANOTHER}") from None
    if words != (job.kind, job.seed, json.loads(json.dumps(job.settings))):
        raise UserError(f"{job.file}: it was trained with another seed or settings: they are in the file")
    return tensors, steps


def _trainer(
    name: str, summary: str, make: Callable[[dict[str, Any], int], Lessons], *extra_settings: Setting
) -> Trainer:
    return Trainer(name, summary, ".safetensors", 60.0, extra_settings, _training(make))


AURORA = _trainer(
    "aurora",
    "Aurora's network: a rate that is worth most in the reward of its paper",
    _aurora,
    Setting("steps", large_number, 3_936_000, "N", "decisions in all"),
    Setting("networks", count, 128, "N", "environments side by side"),
    Setting("decisions", count, 400, "N", "of an episode"),
    Setting("rate_mbps", span, (1.2, 6.0), "LOW,HIGH", "rates of links, Mbit/s"),
    Setting("rtt_ms", span, (100.0, 1000.0), "LOW,HIGH", "RTTs without a queue, ms"),
    Setting("queue_packets", span, (2.0, 2982.0), "LOW,HIGH", "queues, by their logarithm"),
    Setting("loss", number, 0.05, "P", "highest probability of random loss"),
    Setting("start_share", span, (0.3, 1.5), "LOW,HIGH", "first rates, of that of the link"),
    Setting("gamma", number, 0.99, "G", "what the next decision's reward counts"),
)
FAIR = _trainer(
    "fair",
    "a network of several flows that share: windows that are worth most to all together",
    _fair,
    Setting("steps", large_number, 8_000_000, "N", "decisions in all"),
    Setting("networks", count, 32, "N", "environments side by side, of each number of flows"),
    Setting("flows", count, 4, "N", "most flows that share a path"),
    Setting("seconds", number, 30.0, "S", "of an episode"),
    Setting("joins_s", number, 10.0, "S", "flows join one after another within so many seconds"),
    Setting("rate_mbps", span, (2.0, 100.0), "LOW,HIGH", "rates of links, Mbit/s"),
    Setting("rtt_ms", span, (10.0, 200.0), "LOW,HIGH", "RTTs without a queue, ms"),
    Setting("buffer_bdp", span, (0.3, 5.0), "LOW,HIGH", "queues, in products of rate and RTT"),
    Setting("loss", number, 0.01, "P", "highest probability of random loss of half of the episodes"),
    Setting("gamma", number, 0.99, "G", "what the next decision's reward counts"),
)
