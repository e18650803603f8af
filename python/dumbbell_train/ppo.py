"""Proximal policy optimisation over vector environments, in JAX.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017 (the clipped objective), with advantages as in Schulman
et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation", ICLR 2016. The critic also sees
what only the path knows (Pinto et al., "Asymmetric Actor Critic for Image-Based Robot Learning", RSS 2018); what is
kept acts without it.
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
from dumbbell_train.advantages import Seen, advantages

Tensors = dict[str, np.ndarray]
Layers = list[tuple[jax.Array, jax.Array]]

FURTHEST = 10.0
"""Largest magnitude of what networks see, in standard deviations."""


@dataclass(frozen=True)
class Recipe:
    """How it is learned."""

    steps: int
    """Decisions of all agents."""
    horizon: int = 64
    """Steps of all environments between two updates."""
    epochs: int = 4
    batches: int = 4
    """Parts into which what was seen is divided; each is learned from once in an epoch."""
    rate: float = 1e-3
    """Of learning at first; it falls to a tenth."""
    gamma: float = 0.99
    lambda_: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    hidden: tuple[int, ...] = (32, 16)
    """Units of the layers between, with tanh."""
    spread: float = 1.0
    """Standard deviation of actions at first."""
    most: float = 1.0
    """Largest magnitude of an action."""


class Scale:
    """Mean and standard deviation of what was seen up to now."""

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.square = 1e-4, np.zeros(width), np.ones(width) * 1e-4

    def add(self, values: np.ndarray) -> None:
        """Counts rows of values (Chan et al. 1979)."""
        count, mean = len(values), values.mean(axis=0, dtype=np.float64)
        square = np.square(values - mean, dtype=np.float64).sum(axis=0)
        total, gap = self.count + count, mean - self.mean
        self.square += square + np.square(gap) * self.count * count / total
        self.mean += gap * count / total
        self.count = total

    @property
    def center(self) -> np.ndarray:
        """What is subtracted."""
        return self.mean.astype(np.float32)

    @property
    def factor(self) -> np.ndarray:
        """What the difference is multiplied by."""
        return (1.0 / np.sqrt(self.square / self.count + 1e-8)).astype(np.float32)


class Batch(NamedTuple):
    """Decisions that are learned from."""

    seen: jax.Array
    known: jax.Array
    action: jax.Array
    likelihood: jax.Array
    advantage: jax.Array
    target: jax.Array
    weight: jax.Array


def _layers(key: jax.Array, widths: Sequence[int], gain: float) -> Layers:
    """Orthogonal matrices; the last one is `gain` as large."""
    found: Layers = []
    for place, (inputs, outputs) in enumerate(pairwise(widths)):
        key, own = jax.random.split(key)
        size = gain if place + 2 == len(widths) else 2.0**0.5
        kernel = jax.nn.initializers.orthogonal(size)(own, (inputs, outputs), jnp.float32)
        found.append((kernel, jnp.zeros(outputs)))
    return found


def _answer(layers: Layers, seen: jax.Array) -> jax.Array:
    for kernel, bias in layers[:-1]:
        seen = jnp.tanh(seen @ kernel + bias)
    kernel, bias = layers[-1]
    return jnp.add(seen @ kernel, bias)


def _likelihood(mean: jax.Array, spread: jax.Array, action: jax.Array) -> jax.Array:
    """Logarithm of the density of a normal distribution; `spread` is the logarithm of its standard deviation."""
    return jnp.asarray(jax.scipy.stats.norm.logpdf(action, mean, jnp.exp(spread))).sum(axis=-1)


@jax.jit
def _act(
    parameters: dict[str, Any], seen: jax.Array, known: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Actions, the logarithms of their likelihood, and what the critic expects."""
    mean = _answer(parameters["actor"], seen)
    action = mean + jnp.exp(parameters["spread"]) * jax.random.normal(key, mean.shape)
    value = _answer(parameters["critic"], jnp.concatenate([seen, known], axis=1))[:, 0]
    return action, _likelihood(mean, parameters["spread"], action), value


def _loss(parameters: dict[str, Any], batch: Batch, recipe: Recipe) -> jax.Array:
    mean = _answer(parameters["actor"], batch.seen)
    ratio = jnp.exp(_likelihood(mean, parameters["spread"], batch.action) - batch.likelihood)
    clipped = jnp.clip(ratio, 1.0 - recipe.clip, 1.0 + recipe.clip)
    gain = jnp.minimum(ratio * batch.advantage, clipped * batch.advantage)
    value = _answer(parameters["critic"], jnp.concatenate([batch.seen, batch.known], axis=1))[:, 0]
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
    """Learns from all decisions, `epochs` times."""
    count = batch.weight.shape[0] // recipe.batches

    def part(carry: tuple[Any, Any], places: jax.Array) -> tuple[tuple[Any, Any], None]:
        parameters, state = carry
        chosen = Batch(*(each[places] for each in batch))
        slope = jax.grad(_loss)(parameters, chosen, recipe)
        change, state = optimiser.update(slope, state, parameters)
        return (optax.apply_updates(parameters, change), state), None

    keys = jax.random.split(key, recipe.epochs)
    orders = jax.vmap(lambda key: jax.random.permutation(key, batch.weight.shape[0]))(keys)
    places = orders[:, : count * recipe.batches].reshape(recipe.epochs * recipe.batches, count)
    (parameters, state), _ = jax.lax.scan(part, (parameters, state), places)
    return parameters, state


class World:
    """Environments side by side, and what they show now."""

    def __init__(self, env: CongestionVectorEnv, seed: int) -> None:
        self.env = env
        env.reset(seed=seed)
        rows = env.num_envs
        self.fresh = np.zeros(rows, bool)
        self.terminated = np.zeros(rows, bool)
        self.returns = np.zeros(rows)

    @property
    def seen(self) -> np.ndarray:
        """What agents see."""
        return self.env.environments.observations

    @property
    def known(self) -> np.ndarray:
        """What only the path knows, as logarithms."""
        return np.asarray(np.log1p(self.env.environments.oracle), np.float32)

    def step(self, action: np.ndarray, seen: np.ndarray, known: np.ndarray, found: Sequence[np.ndarray]) -> Seen:
        """Decides, and goes on to the next decisions."""
        counts = self.env.environments.due.astype(bool) & ~self.fresh
        _, reward, terminated, truncated, _ = self.env.step(action)
        action, likelihood, value = found
        reward = reward.astype(np.float32)
        step = Seen(seen, known, action, likelihood, value, counts, self.fresh, reward, self.terminated)
        over = np.repeat((terminated | truncated).reshape(-1, self.env.flows).all(axis=1), self.env.flows)
        self.fresh, self.terminated = over, terminated.astype(bool)
        return step


class Learner:
    """Networks, and what they have learned."""

    def __init__(self, worlds: Sequence[World], recipe: Recipe, seed: int) -> None:
        self.worlds, self.recipe = worlds, recipe
        inputs, outputs = worlds[0].seen.shape[1], worlds[0].env.environments.outputs
        facts = worlds[0].known.shape[1]
        actor, critic, self.key = jax.random.split(jax.random.key(seed), 3)
        self.parameters: dict[str, Any] = {
            "actor": _layers(actor, (inputs, *recipe.hidden, outputs), 0.01),
            "critic": _layers(critic, (inputs + facts, *(2 * width for width in recipe.hidden), 1), 1.0),
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
            self.sees.add(world.seen)
            self.knows.add(world.known)

    def _scaled(self, scale: Scale, values: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip((values - scale.center) * scale.factor, -FURTHEST, FURTHEST), np.float32)

    def iterate(self) -> None:
        """Goes on for a horizon in every environment, and learns from it."""
        recipe = self.recipe
        batches, raw = [], []
        for world in self.worlds:
            steps: list[Seen] = []
            for _ in range(recipe.horizon):
                raw.append((world.seen.copy(), world.known, ~world.fresh))
                seen, known, found = self._ask(*raw[-1][:2])
                action = np.clip(found[0], -recipe.most, recipe.most)
                steps.append(world.step(action, seen, known, found))
            _, _, (_, _, last) = self._ask(world.seen, world.known)
            batches.append(self._learned_from(world, steps, np.where(world.terminated, 0.0, last)))
        whole = Batch(*(jnp.concatenate(each) for each in zip(*batches, strict=True)))
        self.key, own = jax.random.split(self.key)
        self.parameters, self.state = _update(self.parameters, self.state, whole, own, recipe, self.optimiser)
        for seen, known, counts in raw:
            if counts.any():
                self.sees.add(seen[counts])
                self.knows.add(known[counts])

    def _ask(self, seen: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """What networks see of it, and what they answer: actions, their likelihood, values."""
        seen, known = self._scaled(self.sees, seen), self._scaled(self.knows, known)
        self.key, own = jax.random.split(self.key)
        found = _act(self.parameters, seen, known, own)
        return seen, known, tuple(np.asarray(each) for each in found)

    def _learned_from(self, world: World, steps: list[Seen], last: np.ndarray) -> Batch:
        """Rewards are in standard deviations of what is returned."""
        recipe = self.recipe
        sums = []
        for step in steps:
            world.returns = np.where(step.fresh, 0.0, world.returns * recipe.gamma + step.reward)
            sums.append(world.returns)
        self.returned.add(np.concatenate(sums)[:, None])
        factor = np.float32(self.returned.factor[0])
        scaled = [step._replace(reward=step.reward * factor) for step in steps]
        better, target = advantages(scaled, last.astype(np.float32), recipe.gamma, recipe.lambda_)
        counts = np.stack([step.counts for step in steps])
        self.steps += int(counts.sum())
        mean = float(np.sum([step.reward.sum() for step in steps]) / max(1, counts.sum()))
        self.reward = mean if self.reward == 0.0 else 0.95 * self.reward + 0.05 * mean
        chosen = better[counts]
        better = (better - chosen.mean()) / (chosen.std() + 1e-8)
        rows = [better, target, counts.astype(np.float32)]
        told = [np.stack([getattr(step, name) for step in steps]) for name in Batch._fields[:4]]
        return Batch(*(jnp.asarray(each.reshape(-1, *each.shape[2:])) for each in [*told, *rows]))

    def layers(self) -> str:
        """Words of the network that acts."""
        hidden = ["dense tanh"] * len(self.recipe.hidden)
        return " ".join(["normalise", f"clip:{FURTHEST:g}", *hidden, "dense", f"clip:{self.recipe.most:g}"])

    def tensors(self) -> Tensors:
        """The network that acts, as `dumbbell_gym.export_policy` calls its tensors."""
        found = {"0.center": self.sees.center, "0.scale": self.sees.factor}
        for place, (kernel, bias) in enumerate(self.parameters["actor"]):
            found[f"{2 * place + 2}.kernel"], found[f"{2 * place + 2}.bias"] = np.asarray(kernel), np.asarray(bias)
        return found

    def memory(self) -> Tensors:
        """What else is needed to go on: the critic, the optimiser, the scales."""
        leaves = jax.tree.leaves((self.parameters, self.state))
        scales = [self.sees, self.knows, self.returned]
        numbers = {
            f"memory.scale.{place}": np.concatenate([[each.count], each.mean, each.square])
            for place, each in enumerate(scales)
        }
        return {f"memory.{place}": np.asarray(each) for place, each in enumerate(leaves)} | numbers

    def remember(self, tensors: Mapping[str, np.ndarray], steps: int) -> None:
        """Goes on where `memory` was asked.

        Raises:
            ValueError, KeyError: another network was learned.
        """
        for name, own in self.memory().items():
            kept = tensors[name]
            if kept.shape != own.shape or not np.isfinite(kept).all():
                raise ValueError(f"`{name}`: allowed are finite numbers in the shape {list(own.shape)}")
        leaves, tree = jax.tree.flatten((self.parameters, self.state))
        found = [jnp.asarray(tensors[f"memory.{place}"], old.dtype) for place, old in enumerate(leaves)]
        self.parameters, self.state = jax.tree.unflatten(tree, found)
        for place, scale in enumerate([self.sees, self.knows, self.returned]):
            numbers = tensors[f"memory.scale.{place}"].astype(np.float64)
            width = len(scale.mean)
            if numbers[0] <= 0.0 or numbers[1 + width :].min() < 0.0:
                raise ValueError(f"`memory.scale.{place}`: has a count or a square below zero")
            scale.count, scale.mean, scale.square = numbers[0], numbers[1 : 1 + width], numbers[1 + width :]
        self.steps = steps
