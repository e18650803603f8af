"""Policies: inputs and action of an agent, and the times of its decisions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gymnasium import spaces

from dumbbell.base.errors import UserError, listed
from dumbbell_gym.fields import SIGHTS

DISCRETE = "indigo5"
"""Action with five choices."""


@dataclass(frozen=True)
class Policy:
    """Policy without its network. `docs/how-to/gym.md` lists the possible inputs and actions.

    `export_policy` writes the policy as a line into the file of a trained network, which the scheme `neural` runs.
    """

    sees: Sequence[str]
    """Names of `dumbbell_gym.SIGHTS`."""
    history: int = 1
    """Number of recent steps in an observation, oldest first."""
    action: str = "rate_mult:0.025"
    """`rate_mult:X`, `cwnd_mult2:X` (numbers from -1 to 1) or `indigo5` (one of five)."""
    step: str = "rtt:0.5"
    """`time_ms:MS`, `rtt:SHARE` of the mean RTT, or `acks:NUMBER`."""
    require_ack: bool = False
    """True if steps by time and RTT wait for an ACK: without one they end at the first ACK after their time."""
    delay_ms: float = 0.0
    """Delay from the decision to its effect, ms."""
    start_mbps: float = 1.0
    """Rate before the first decision, Mbit/s."""
    start_packets: float = 10.0
    """Window before the first decision, packets."""
    most_mbps: float = 1000.0
    """Maximum rate, Mbit/s."""
    most_packets: float = 10_000.0
    """Maximum window, packets."""

    def line(self) -> str:
        """Return the policy as a line that the core reads."""
        sees = ",".join([self.sees] if isinstance(self.sees, str) else list(self.sees))
        words = {
            "sees": sees,
            "history": self.history,
            "action": self.action,
            "step": self.step,
            "require_ack": str(bool(self.require_ack)).lower(),
            "delay_ms": self.delay_ms,
            "start_mbps": self.start_mbps,
            "start_packets": self.start_packets,
            "most_mbps": self.most_mbps,
            "most_packets": self.most_packets,
        }
        for key, value in words.items():
            if str(value).split() != [str(value)]:
                raise UserError(f"policy: `{key}` = {value!r}: allowed is a word without blanks")
        return " ".join(f"{key}={value}" for key, value in words.items())

    def bounds(self) -> tuple[list[float], list[float]]:
        """Return the lowest and highest values of an observation."""
        inputs = [SIGHTS[name] for name in ([self.sees] if isinstance(self.sees, str) else self.sees)]
        return [entry.low for entry in inputs] * self.history, [entry.high for entry in inputs] * self.history


PRESETS = {
    "like-aurora": Policy(("latency_inflation", "latency_ratio", "send_ratio"), history=10),
    "like-orca": Policy(
        ("rate_share", "loss_ratio", "sample_ratio", "length", "srtt_ratio", "queueing_delay"),
        history=10,
        action="cwnd_mult2:2",
        step="time_ms:20",
    ),
}
"""Policies with about the inputs and actions of published ones: Aurora (Jay et al., ICML 2019, section 4) and Orca
(Abbasloo et al., SIGCOMM 2020, section 4), the latter over a plain window instead of CUBIC."""

HIGHEST = 1e6
"""Bound of the observations of schemes, which have none of their own. No value exceeds it."""


def resolve_policy(policy: str | Policy, schemes: Sequence[str]) -> str | Policy:
    """Return the scheme or the `Policy` that `policy` names.

    Raises:
        UserError: there is none of that name.
    """
    if isinstance(policy, Policy) or policy in schemes:
        return policy
    if policy in PRESETS:
        return PRESETS[policy]
    names = sorted({*schemes, *PRESETS})
    raise UserError(f"policy = `{policy}`: allowed are {listed(names)}, or a dumbbell_gym.Policy")


def spaces_of(policy: str | Policy, inputs: int, outputs: int) -> tuple[spaces.Box, spaces.Space[np.ndarray]]:
    """Return the observation space and the action space of one agent."""
    if isinstance(policy, Policy):
        low, high = policy.bounds()
        observations = spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
        discrete = policy.action == DISCRETE
    else:
        observations = spaces.Box(-HIGHEST, HIGHEST, (inputs,), np.float32)
        discrete = outputs > 1
    act: spaces.Space[np.ndarray] = (
        spaces.Discrete(outputs) if discrete else spaces.Box(-1.0, 1.0, (outputs,), np.float32)  # type: ignore[assignment]
    )
    return observations, act
