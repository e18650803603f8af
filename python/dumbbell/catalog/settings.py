"""The settings of an experiment: names, defaults and limits, stated here and nowhere else."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from typing import Any

from dumbbell import backends
from dumbbell.backends import Capabilities
from dumbbell.catalog.tables import TomlTable
from dumbbell.errors import UserError

LOGS = ("none", "packets", "full")
MOST_FLOWS = 10_000
MOST_SECONDS = 1e6
LEAST_SECONDS = 1e-3

Read = Callable[[TomlTable, str], object]


def _setting(default: object, read: Read) -> Any:  # noqa: ANN401 (a field of any type)
    """A setting that is `default` unless given, and how it is read from a table."""
    return field(default=default, metadata={"read": read})


def _backend(table: TomlTable, key: str) -> str:
    text = table.text(key)
    try:
        backends.find(text)
    except UserError as error:
        raise UserError(f"{table.source}: `{table.prefix}{key}`: {error}") from None
    return text


def _duration(table: TomlTable, key: str) -> float:
    return table.number(key, least=LEAST_SECONDS, most=MOST_SECONDS)


def _not_negative(table: TomlTable, key: str) -> float:
    return table.number(key, least=0.0)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the runs of an experiment are made: shared by an experiment as written and as resolved.

    The `flows` flows of a scheme start `interval_s` apart, each up to `start_spread_ms` late. Where that is 0, the
    first run starts when it is told, and the flows of repetitions up to `repetition_spread_ms` late: nobody starts a
    program at the same nanosecond twice, and without chance on the path all would be one run. Metrics leave out the
    first `warmup_s`: a sixth of the duration unless given. `convergence_delta` is the distance from the fair share that
    counts as converged, a fraction of it. A simulated run is stopped that needs more than `most_events_per_s` in one
    simulated second, or holds more than `most_packets` at a time. With `intervals_s`, reports list what was transferred
    in each interval.
    """

    backend: str = _setting("sim", _backend)
    runs: int = _setting(1, lambda table, key: table.integer(key, least=1))
    duration_s: float = _setting(30.0, _duration)
    flows: int = _setting(1, lambda table, key: table.integer(key, least=1, most=MOST_FLOWS))
    interval_s: float = _setting(0.0, _not_negative)
    start_spread_ms: float = _setting(0.0, _not_negative)
    repetition_spread_ms: float = _setting(100.0, _not_negative)
    warmup_s: float | None = _setting(None, _not_negative)
    seed: int = _setting(1, lambda table, key: table.integer(key))
    random_order: bool = _setting(False, lambda table, key: table.flag(key))
    sample_interval_s: float = _setting(0.1, lambda table, key: table.number(key, least=LEAST_SECONDS))
    convergence_delta: float = _setting(0.2, lambda table, key: table.number(key, least=1e-3, most=0.999))
    most_events_per_s: int = _setting(100_000_000, lambda table, key: table.integer(key, least=1, most=10**12))
    most_packets: int = _setting(4_000_000, lambda table, key: table.integer(key, least=1, most=10**9))
    log: str = _setting("packets", lambda table, key: table.text(key, choices=LOGS))
    intervals_s: float | None = _setting(None, _duration)

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        return backends.find(self.backend).capabilities

    def spread_ms(self, run: int) -> float:
        """How late the flows of a repetition may start."""
        return self.start_spread_ms or (self.repetition_spread_ms if run > 1 else 0.0)

    def settings(self) -> dict[str, Any]:
        """The settings alone, by name; what is not set is absent."""
        values = {name: getattr(self, name) for name in READERS}
        return {name: value for name, value in values.items() if value is not None}


READERS: dict[str, Read] = {each.name: each.metadata["read"] for each in fields(Settings)}
"""How each setting is read, by name, in the order of files."""


def read_settings(table: TomlTable, names: Collection[str] = READERS) -> dict[str, Any]:
    """Those of the settings `names` that the table gives.

    Raises:
        UserError: a value that is not allowed.
    """
    return {name: READERS[name](table, name) for name in names if table.has(name)}
