"""What an agent sees, what its action is, and when it acts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from gymnasium import spaces

from dumbbell.base.errors import UserError, listed
from dumbbell_gym.fields import SIGHTS

DISCRETE = "indigo5"
"""The action that is one of five."""


@dataclass(frozen=True)
class Policy:
    """A policy of one's own without its network; `docs/how-to/gym.md` has what it can see, and the actions.

    The same line of words goes into the file of a trained network (`export_policy`), which then runs as the scheme
    `neural`.
    """

    sees: Sequence[str]
    """Names of `dumbbell_gym.SIGHTS`."""
    history: int = 1
    """How many of the last steps are seen, the oldest first."""
    action: str = "rate_mult:0.025"
    """`rate_mult:X`, `cwnd_mult2:X` (numbers from -1 to 1) or `indigo5` (one of five)."""
    step: str = "rtt:0.5"
    """`time_ms:MS`, `rtt:SHARE` of the mean RTT, or `acks:NUMBER`."""
    require_ack: bool = False
    """Steps by time and RTT end with the first ACK after their time, if none came before."""
    delay_ms: float = 0.0
    """How long after the decision an action takes effect."""
    start_mbps: float = 1.0
    """Rate before the first decision."""
    start_packets: float = 10.0
    """Window before the first decision."""
    most_mbps: float = 1000.0
    """Highest rate."""
    most_packets: float = 10_000.0
    """Largest window."""

    def line(self) -> str:
        """As the core reads it."""
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
        """Lowest and highest values of an observation."""
        seen = [SIGHTS[name] for name in ([self.sees] if isinstance(self.sees, str) else self.sees)]
        return [each.low for each in seen] * self.history, [each.high for each in seen] * self.history


PRESETS = {
    "like-aurora": Policy(("latency_inflation", "latency_ratio", "send_ratio"), history=10),
    "like-orca": Policy(
        ("rate_share", "loss_ratio", "sample_ratio", "length", "srtt_ratio", "queueing_delay"),
        history=10,
        action="cwnd_mult2:2",
        step="time_ms:20",
    ),
}
"""Policies of one's own that see and do about what published ones do: Aurora (Jay et al., ICML 2019, section 4) and,
over a plain window instead of CUBIC, Orca (Abbasloo et al., SIGCOMM 2020, section 4)."""

HIGHEST = 1e6
"""What schemes see has no bounds of its own; beyond this nothing gets."""


def chosen(policy: str | Policy, schemes: Sequence[str]) -> str | Policy:
    """The scheme that is meant, or a policy of one's own.

    Raises:
        UserError: there is none of that name.
    """
    if isinstance(policy, Policy) or policy in schemes:
        return policy
    if policy in PRESETS:
        return PRESETS[policy]
    known = sorted({*schemes, *PRESETS})
    raise UserError(f"policy = `{policy}`: allowed are {listed(known)}, or a dumbbell_gym.Policy")


def spaces_of(policy: str | Policy, inputs: int, outputs: int) -> tuple[spaces.Box, spaces.Space[np.ndarray]]:
    """The spaces of observations and of actions of one agent."""
    if isinstance(policy, Policy):
        low, high = policy.bounds()
        seen = spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
        discrete = policy.action == DISCRETE
    else:
        seen = spaces.Box(-HIGHEST, HIGHEST, (inputs,), np.float32)
        discrete = outputs > 1
    act: spaces.Space[np.ndarray] = (
        spaces.Discrete(outputs) if discrete else spaces.Box(-1.0, 1.0, (outputs,), np.float32)  # type: ignore[assignment]
    )
    return seen, act
