"""The conventions for showing results: the metrics that stand for throughput, delay and loss."""

from dataclasses import dataclass

from dumbbell.base.errors import capitalized


@dataclass(frozen=True)
class MainMetric:
    """A metric that tables and figures show by default.

    A value times `factor` is in the unit `unit`. It is shown with at least `digits` decimals.
    """

    key: str
    title: str
    unit: str
    factor: float = 1.0
    digits: int = 2

    @property
    def heading(self) -> str:
        """Title and unit, for columns of tables: `goodput Mbit/s`."""
        return f"{self.title} {self.unit}"

    @property
    def axis(self) -> str:
        """Title and unit, for axes of figures: `Goodput (Mbit/s)`."""
        return f"{capitalized(self.title)} ({self.unit})"


@dataclass(frozen=True)
class Convention:
    """The metrics that stand for throughput, delay and loss of a run and of each flow.

    `docs/reference/metrics.md` has their formulas. Headings contain the `label`; `rules` describes the counted packets.
    """

    name: str
    label: str
    rules: str
    throughput: MainMetric
    delay: MainMetric
    loss: MainMetric

    @property
    def metrics(self) -> tuple[MainMetric, MainMetric, MainMetric]:
        """The metrics of throughput, delay and loss, in the order of tables."""
        return (self.throughput, self.delay, self.loss)

    @property
    def keys(self) -> tuple[str, str, str]:
        """The names of the three metrics, in the order of tables."""
        return (self.throughput.key, self.delay.key, self.loss.key)

    def sentence(self, warmup_s: float | None = None) -> str:
        """Return the rules as a sentence that begins with the label.

        If the rules name a warm-up, its length is added.
        """
        length = f" (warm-up: {warmup_s:.3g} s)" if warmup_s is not None and "warm-up" in self.rules else ""
        return f"{capitalized(self.label)}: {self.rules}{length}."


CORRECTED = Convention(
    name="corrected",
    label="corrected",
    rules="payload, delays and losses after the warm-up; packets under way at the end are not lost",
    throughput=MainMetric("goodput_mbps", "goodput", "Mbit/s"),
    delay=MainMetric("owd_p95_ms", "p95 one-way delay", "ms", digits=1),
    loss=MainMetric("packet_loss_rate", "loss", "%", 100.0),
)
PANTHEON = Convention(
    name="pantheon",
    label="Pantheon's convention",
    rules="the whole run, packets with the path's overhead; packets under way at the end are lost",
    throughput=MainMetric("throughput_mbps", "throughput", "Mbit/s"),
    delay=MainMetric("delay_p95_ms", "p95 one-way delay", "ms", digits=1),
    loss=MainMetric("loss_rate", "loss", "%", 100.0),
)
CONVENTIONS = {convention.name: convention for convention in (CORRECTED, PANTHEON)}
