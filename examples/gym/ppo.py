"""Training of your own policy, which is then run as a scheme: `python examples/gym/ppo.py [STEPS]` (extra `train`)."""

import sys

import dumbbell
import dumbbell_gym as gym
from dumbbell_train.ppo import Learner, Recipe, World

policy = gym.Policy(("latency_ratio", "send_ratio", "loss_ratio"), history=5, action="rate_mult:0.2", start_mbps=2)
varied_settings = {"rate_mbps": gym.LogUniform(2, 20), "rtt_ms": (20, 100), "queue_bdp": (0.5, 3.0)}
path = dumbbell.make_path(rate="12mbit", rtt="60ms", queue="1bdp")
environments = gym.CongestionVectorEnv(
    path, num_envs=64, copy=False, policy=policy, reward="log_power", duration_s=10, vary=varied_settings
)

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
learner = Learner([World(environments, seed=1)], Recipe(steps=steps), seed=1)
while learner.steps < learner.recipe.steps:
    learner.iterate()
    print(f"{learner.steps} decisions, mean reward {learner.reward:.3f}")

gym.export_policy("mine.safetensors", learner.layers(), learner.tensors(), policy)
result = dumbbell.run(schemes="neural", path=path, duration=10, settings=["neural.weights=mine.safetensors"])
print(f"{result.means()['goodput_mbps'][0]:.1f} of 12 Mbit/s")
