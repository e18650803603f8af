"""Proximal policy optimisation over vector environments, in JAX.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017 (the clipped objective), with advantages as in Schulman
et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation", ICLR 2016. The critic also sees
fields that only the path knows (Pinto et al., "Asymmetric Actor Critic for Image-Based Robot Learning", RSS 2018).
The trained network acts without them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dumbbell_gym import CongestionVectorEnv
from dumbbell_train.advantages import StepData, advantages

Tensors = dict[str, np.ndarray]
Layers = list[tuple[jax.Array, jax.Array]]

FURTHEST = 10.0
"""Maximum magnitude of the networks' inputs, in standard deviations."""


@dataclass(frozen=True)
class Recipe:
    """Parameters of the learning algorithm."""

    steps: int
    """Number of decisions of all agents."""
    horizon: int = 64
    """Number of steps of all environments between two updates."""
    epochs: int = 4
    batches: int = 4
    """Number of batches per epoch."""
    rate: float = 1e-3
    """Initial learning rate. It falls to a tenth."""
    gamma: float = 0.99
    lambda_: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    hidden_units: tuple[int, ...] = (32, 16)
    """Number of units of each hidden layer (tanh)."""
    spread: float = 1.0
    """Initial standard deviation of actions."""
    max_action: float = 1.0
    """Maximum magnitude of an action."""


class Scale:
    """Mean and standard deviation of all values up to now."""

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.square = 1e-4, np.zeros(width), np.ones(width) * 1e-4

    def add(self, values: np.ndarray) -> None:
        """Add rows of values (Chan et al. 1979)."""
        count, mean = len(values), values.mean(axis=0, dtype=np.float64)
        square = np.square(values - mean, dtype=np.float64).sum(axis=0)
        total, gap = self.count + count, mean - self.mean
        self.square += square + np.square(gap) * self.count * count / total
        self.mean += gap * count / total
        self.count = total

    @property
    def center(self) -> np.ndarray:
        """Offset that is subtracted from inputs."""
        return self.mean.astype(np.float32)

    @property
    def factor(self) -> np.ndarray:
        """Factor that multiplies the difference."""
        return (1.0 / np.sqrt(self.square / self.count + 1e-8)).astype(np.float32)


class Batch(NamedTuple):
    """Decisions to learn from."""

    observation: jax.Array
    path_state: jax.Array
    action: jax.Array
    likelihood: jax.Array
    advantage: jax.Array
    target: jax.Array
    weight: jax.Array


def _layers(key: jax.Array, widths: Sequence[int], gain: float) -> Layers:
    """Return orthogonal matrices. The last one is scaled by `gain`."""
    layers: Layers = []
    for place, (inputs, outputs) in enumerate(pairwise(widths)):
        key, layer_key = jax.random.split(key)
        size = gain if place + 2 == len(widths) else 2.0**0.5
        kernel = jax.nn.initializers.orthogonal(size)(layer_key, (inputs, outputs), jnp.float32)
        layers.append((kernel, jnp.zeros(outputs)))
    return layers


def _answer(layers: Layers, inputs: jax.Array) -> jax.Array:
    for kernel, bias in layers[:-1]:
        inputs = jnp.tanh(inputs @ kernel + bias)
    kernel, bias = layers[-1]
    return jnp.add(inputs @ kernel, bias)


def _likelihood(mean: jax.Array, spread: jax.Array, action: jax.Array) -> jax.Array:
    """Return the log density of a normal distribution. `spread` is the logarithm of its standard deviation."""
    return jnp.asarray(jax.scipy.stats.norm.logpdf(action, mean, jnp.exp(spread))).sum(axis=-1)


@jax.jit
def _act(
    parameters: dict[str, Any], inputs: jax.Array, path_state: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return actions, the logarithms of their likelihood, and the critic's values."""
    mean = _answer(parameters["actor"], inputs)
    action = mean + jnp.exp(parameters["spread"]) * jax.random.normal(key, mean.shape)
    value = _answer(parameters["critic"], jnp.concatenate([inputs, path_state], axis=1))[:, 0]
    return action, _likelihood(mean, parameters["spread"], action), value


def _loss(parameters: dict[str, Any], batch: Batch, recipe: Recipe) -> jax.Array:
    mean = _answer(parameters["actor"], batch.observation)
    ratio = jnp.exp(_likelihood(mean, parameters["spread"], batch.action) - batch.likelihood)
    clipped_ratio = jnp.clip(ratio, 1.0 - recipe.clip, 1.0 + recipe.clip)
    gain = jnp.minimum(ratio * batch.advantage, clipped_ratio * batch.advantage)
    value = _answer(parameters["critic"], jnp.concatenate([batch.observation, batch.path_state], axis=1))[:, 0]
    miss = 0.5 * jnp.square(value - batch.target)
    total = jnp.maximum(batch.weight.sum(), 1.0)
    entropy = jnp.sum(parameters["spread"])
    return jnp.sum((miss - gain) * batch.weight) / total - recipe.entropy * entropy


@partial(jax.jit, static_argnames=("recipe", "optimiser"))
def _update(
    parameters: dict[str, Any],
    state: optax.OptState,
    batch: Batch,
    key: jax.Array,
    recipe: Recipe,
    optimiser: optax.GradientTransformation,
) -> tuple[dict[str, Any], optax.OptState]:
    """Return the parameters and optimiser state after `epochs` passes over all decisions."""
    count = batch.weight.shape[0] // recipe.batches

    def part(carry: tuple[Any, Any], places: jax.Array) -> tuple[tuple[Any, Any], None]:
        parameters, state = carry
        part = Batch(*(column[places] for column in batch))
        slope = jax.grad(_loss)(parameters, part, recipe)
        change, state = optimiser.update(slope, state, parameters)
        return (optax.apply_updates(parameters, change), state), None

    keys = jax.random.split(key, recipe.epochs)
    orders = jax.vmap(lambda key: jax.random.permutation(key, batch.weight.shape[0]))(keys)
    places = orders[:, : count * recipe.batches].reshape(recipe.epochs * recipe.batches, count)
    (parameters, state), _ = jax.lax.scan(part, (parameters, state), places)
    return parameters, state


class World:
    """Vector environment with its current observations."""

    def __init__(self, env: CongestionVectorEnv, seed: int) -> None:
        self.env = env
        env.reset(seed=seed)
        rows = env.num_envs
        self.fresh = np.zeros(rows, bool)
        self.terminated = np.zeros(rows, bool)
        self.returns = np.zeros(rows)

    @property
    def observation(self) -> np.ndarray:
        """Observations of the agents."""
        return self.env.environments.observations

    @property
    def path_state(self) -> np.ndarray:
        """Logarithms of the fields that only the path knows."""
        return np.asarray(np.log1p(self.env.environments.oracle), np.float32)

    def step(
        self, action: np.ndarray, observation: np.ndarray, path_state: np.ndarray, output: Sequence[np.ndarray]
    ) -> StepData:
        """Apply the actions and run to the next decisions."""
        counts = self.env.environments.due.astype(bool) & ~self.fresh
        _, reward, terminated, truncated, _ = self.env.step(action)
        action, likelihood, value = output
        reward = reward.astype(np.float32)
        step = StepData(observation, path_state, action, likelihood, value, counts, self.fresh, reward, self.terminated)
        over = np.repeat((terminated | truncated).reshape(-1, self.env.flows).all(axis=1), self.env.flows)
        self.fresh, self.terminated = over, terminated.astype(bool)
        return step


class Learner:
    """Networks and the state of their training."""

    def __init__(self, worlds: Sequence[World], recipe: Recipe, seed: int) -> None:
        self.worlds, self.recipe = worlds, recipe
        inputs, outputs = worlds[0].observation.shape[1], worlds[0].env.environments.outputs
        facts = worlds[0].path_state.shape[1]
        actor, critic, self.key = jax.random.split(jax.random.key(seed), 3)
        self.parameters: dict[str, Any] = {
            "actor": _layers(actor, (inputs, *recipe.hidden_units, outputs), 0.01),
            "critic": _layers(critic, (inputs + facts, *(2 * width for width in recipe.hidden_units), 1), 1.0),
            "spread": jnp.full(outputs, float(np.log(recipe.spread)), jnp.float32),
        }
        self.sees, self.knows, self.returned = Scale(inputs), Scale(facts), Scale(1)
        rows = sum(world.env.num_envs for world in worlds)
        updates = max(1, recipe.steps // (rows * recipe.horizon)) * recipe.epochs * recipe.batches
        rates = optax.linear_schedule(recipe.rate, recipe.rate / 10.0, updates)
        self.optimiser = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(rates, eps=1e-5))
        self.state = self.optimiser.init(self.parameters)
        self.steps = 0
        self.reward = 0.0
        for world in worlds:
            self.sees.add(world.observation)
            self.knows.add(world.path_state)

    def _scale(self, scale: Scale, values: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip((values - scale.center) * scale.factor, -FURTHEST, FURTHEST), np.float32)

    def iterate(self) -> None:
        """Run every environment for a horizon, and learn from the steps."""
        recipe = self.recipe
        batches, raw = [], []
        for world in self.worlds:
            steps: list[StepData] = []
            for _ in range(recipe.horizon):
                raw.append((world.observation.copy(), world.path_state, ~world.fresh))
                observation, path_state, output = self._ask(*raw[-1][:2])
                action = np.clip(output[0], -recipe.max_action, recipe.max_action)
                steps.append(world.step(action, observation, path_state, output))
            _, _, (_, _, last) = self._ask(world.observation, world.path_state)
            batches.append(self._batch_of(world, steps, np.where(world.terminated, 0.0, last)))
        full_batch = Batch(*(jnp.concatenate(columns) for columns in zip(*batches, strict=True)))
        self.key, shuffle_key = jax.random.split(self.key)
        self.parameters, self.state = _update(
            self.parameters, self.state, full_batch, shuffle_key, recipe, self.optimiser
        )
        for observation, path_state, counts in raw:
            if counts.any():
                self.sees.add(observation[counts])
                self.knows.add(path_state[counts])

    def _ask(
        self, observation: np.ndarray, path_state: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """Return the scaled inputs of the networks, and their output: actions, likelihood, values."""
        observation, path_state = self._scale(self.sees, observation), self._scale(self.knows, path_state)
        self.key, action_key = jax.random.split(self.key)
        output = _act(self.parameters, observation, path_state, action_key)
        return observation, path_state, tuple(np.asarray(array) for array in output)

    def _batch_of(self, world: World, steps: list[StepData], last: np.ndarray) -> Batch:
        """Return the batch of a world's steps. Rewards are scaled by the standard deviation of the returns."""
        recipe = self.recipe
        sums = []
        for step in steps:
            world.returns = np.where(step.fresh, 0.0, world.returns * recipe.gamma + step.reward)
            sums.append(world.returns)
        self.returned.add(np.concatenate(sums)[:, None])
        factor = np.float32(self.returned.factor[0])
        scaled_steps = [step._replace(reward=step.reward * factor) for step in steps]
        better, target = advantages(scaled_steps, last.astype(np.float32), recipe.gamma, recipe.lambda_)
        counts = np.stack([step.counts for step in steps])
        self.steps += int(counts.sum())
        mean = float(np.sum([step.reward.sum() for step in steps]) / max(1, counts.sum()))
        self.reward = mean if self.reward == 0.0 else 0.95 * self.reward + 0.05 * mean
        due_advantages = better[counts]
        better = (better - due_advantages.mean()) / (due_advantages.std() + 1e-8)
        rows = [better, target, counts.astype(np.float32)]
        columns = [np.stack([getattr(step, name) for step in steps]) for name in Batch._fields[:4]]
        return Batch(*(jnp.asarray(column.reshape(-1, *column.shape[2:])) for column in [*columns, *rows]))

    def layers(self) -> str:
        """Return the layers of the acting network as words."""
        layer_words = ["dense tanh"] * len(self.recipe.hidden_units)
        return " ".join(["normalise", f"clip:{FURTHEST:g}", *layer_words, "dense", f"clip:{self.recipe.max_action:g}"])

    def tensors(self) -> Tensors:
        """Return the tensors of the acting network with the names of `dumbbell_gym.export_policy`."""
        tensors = {"0.center": self.sees.center, "0.scale": self.sees.factor}
        for place, (kernel, bias) in enumerate(self.parameters["actor"]):
            tensors[f"{2 * place + 2}.kernel"], tensors[f"{2 * place + 2}.bias"] = np.asarray(kernel), np.asarray(bias)
        return tensors

    def memory(self) -> Tensors:
        """Return the further state for resuming: the critic, the optimiser, the scales."""
        leaves = jax.tree.leaves((self.parameters, self.state))
        scales = [self.sees, self.knows, self.returned]
        numbers = {
            f"memory.scale.{place}": np.concatenate([[scale.count], scale.mean, scale.square])
            for place, scale in enumerate(scales)
        }
        return {f"memory.{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)} | numbers

    def remember(self, tensors: Mapping[str, np.ndarray], steps: int) -> None:
        """Restore the state that `memory` returned.

        Raises:
            ValueError, KeyError: another network was learned.
        """
        for name, expected in self.memory().items():
            tensor = tensors[name]
            if tensor.shape != expected.shape or not np.isfinite(tensor).all():
                raise ValueError(f"`{name}`: allowed are finite numbers in the shape {list(expected.shape)}")
        leaves, tree = jax.tree.flatten((self.parameters, self.state))
        new_leaves = [jnp.asarray(tensors[f"memory.{place}"], old.dtype) for place, old in enumerate(leaves)]
        self.parameters, self.state = jax.tree.unflatten(tree, new_leaves)
        for place, scale in enumerate([self.sees, self.knows, self.returned]):
            numbers = tensors[f"memory.scale.{place}"].astype(np.float64)
            width = len(scale.mean)
            if numbers[0] <= 0.0 or numbers[1 + width :].min() < 0.0:
                raise ValueError(f"`memory.scale.{place}`: has a count or a square below zero")
            scale.count, scale.mean, scale.square = numbers[0], numbers[1 : 1 + width], numbers[1 + width :]
        self.steps = steps
