"""Environments for agents that control congestion: Gymnasium, PettingZoo, and vectors of thousands.

    import dumbbell_gym as gym

    env = gym.CongestionEnv("india-aws-india", policy="indigo", reward="log_power")
    observation, info = env.reset(seed=1)

`docs/how-to/gym.md` goes through it. Needs the extra `gym`: `pip install 'dumbbell[gym]'`.
"""

from dumbbell.base.errors import UserError

try:
    import gymnasium
except ModuleNotFoundError:
    raise UserError("dumbbell_gym needs gymnasium: pip install 'dumbbell[gym]'") from None

from dumbbell_gym.export import export_policy
from dumbbell_gym.fields import ORACLE, REWARDS, SIGHTS, STEP, agents
from dumbbell_gym.parallel import CongestionParallelEnv
from dumbbell_gym.policy import PRESETS, Policy
from dumbbell_gym.single import CongestionEnv
from dumbbell_gym.task import Choice, LogUniform, Uniform
from dumbbell_gym.vector import CongestionVectorEnv

__all__ = [
    "ORACLE",
    "PRESETS",
    "REWARDS",
    "SIGHTS",
    "STEP",
    "Choice",
    "CongestionEnv",
    "CongestionParallelEnv",
    "CongestionVectorEnv",
    "LogUniform",
    "Policy",
    "Uniform",
    "agents",
    "export_policy",
]

gymnasium.register(
    id="dumbbell/Congestion-v0",
    entry_point="dumbbell_gym.single:CongestionEnv",
    vector_entry_point="dumbbell_gym.vector:CongestionVectorEnv",
)
