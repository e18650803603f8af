"""Real packets between this machine and another one over the network between them."""

from dataclasses import dataclass
from typing import ClassVar

from dumbbell.backends.protocol import Capabilities, Wording


@dataclass(frozen=True)
class Remote:
    """Runs with the host `argument`. The name is taken; this version does not execute them."""

    form: ClassVar = "remote:HOST"
    refusal: ClassVar = "is not available in this version"
    capabilities: ClassVar = Capabilities(real_packets=True, max_jobs=1)
    wording: ClassVar = Wording(test="test over the network", tested="Tested over the network")
    argument: str = ""


BACKEND = Remote
