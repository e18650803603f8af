"""What was measured elsewhere and imported: no specification, no seed, nothing to run again."""

from dataclasses import dataclass
from typing import ClassVar

from dumbbell.backends.protocol import Capabilities, Wording


@dataclass(frozen=True)
class Imported:
    """The mark of imported results: `dumbbell import` writes it."""

    form: ClassVar = "import"
    refusal: ClassVar = "marks imported results, which cannot be run again"
    capabilities: ClassVar = Capabilities(executes=False)
    wording: ClassVar = Wording(test="imported test", tested="Imported results")
    argument: str = ""


BACKEND = Imported
