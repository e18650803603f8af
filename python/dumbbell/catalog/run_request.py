"""The request of a run: all options of `dumbbell run` and arguments of `dumbbell.run`, each defined once.

A field is an argument of the library. Its metadata make the option of the command, the docstring of `dumbbell.run`, and
the table in docs/reference/run-options.md. A field for a setting of an experiment has that setting's description.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from dumbbell.base.backend import executing_backends
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.request_fields import Option, metadata, option, options, request_field
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import (
    DESCRIPTIONS,
    KEEPS,
    LOGS,
    POLITE_BYTES,
    POLITE_MBPS,
    SIDES,
    TUNNELS,
    Settings,
    SettingValues,
)
from dumbbell.catalog.options import values
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme

Schemes: TypeAlias = str | Scheme | Iterable[str | Scheme]
Paths: TypeAlias = str | PathModel | PathLike[str] | Iterable[str | PathModel | PathLike[str]]
Names: TypeAlias = str | Iterable[str]
Assignments: TypeAlias = Mapping[str, object] | Iterable[str]
Place: TypeAlias = str | PathLike[str]

NETWORK = "between two machines (backend remote:HOST)"
CAMPAIGN = "campaigns and limits"
MORE = "more"


def _setting(
    setting: str,
    read: Callable[[str], object] | None,
    form: str | Callable[[], str] = "",
    *,
    note: str = "",
    word: str = "",
    heading: str = "",
) -> Any:  # noqa: ANN401 (a field of any type)
    """Return a field for a setting of the experiment; None leaves the experiment's value."""
    description = DESCRIPTIONS[setting].removesuffix(".")
    sentence = "; ".join(part for part in (description[0].lower() + description[1:], note) if part)
    form_function = form if callable(form) else lambda: form
    option_ = Option(means=sentence, read=read, form=form_function, word=word, heading=heading, setting=setting)
    return request_field(None, option_)


def _group(kind: type, means: str) -> Any:  # noqa: ANN401 (a field of any type)
    return request_field(None, Option(means=means, group=kind))


def _choices(names: Iterable[str]) -> str:
    return "|".join(names)


def _backends() -> tuple[str, ...]:
    return tuple(backend.form for backend in executing_backends())


@dataclass(frozen=True, kw_only=True)
class Remote:
    """Settings of runs between two machines (`backend="remote:HOST"`). None leaves the experiment's value."""

    sender: str | None = _setting(
        "sender",
        values.Choice(*SIDES),
        _choices(SIDES),
        note="default: local",
        heading=NETWORK,
    )
    tunnel: str | None = _setting(
        "tunnel",
        values.Choice(*TUNNELS),
        _choices(TUNNELS),
        note="default: auto",
        heading=NETWORK,
    )
    ntp: str | None = _setting("ntp", str, "HOST", heading=NETWORK)
    address: str | None = _setting(
        "remote_address",
        str,
        "ADDRESS",
        note="default: where ssh goes",
        word="remote_address",
        heading=NETWORK,
    )
    udp_ports: str | None = _setting("udp_ports", str, "FROM-TO", heading=NETWORK)


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Runs at scheduled times: one run of each scheme every `every` seconds, for `lasts` seconds."""

    every: float | None = _setting(
        "every_s",
        values.campaign_time,
        "1h",
        heading=CAMPAIGN,
    )
    lasts: float | None = _setting("for_s", values.campaign_time, "7d", word="for", heading=CAMPAIGN)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of runs: bytes on disk, Mbit/s averaged over a second, sent bytes."""

    disk_bytes: int | None = _setting(
        "disk_quota_bytes",
        values.size,
        "10GB",
        note="default: what is free",
        word="disk_quota",
        heading=CAMPAIGN,
    )
    bandwidth_mbps: float | None = _setting(
        "bandwidth_cap_mbps",
        values.bandwidth,
        "20mbit",
        note=f"default: {POLITE_MBPS:g}mbit",
        word="bandwidth_cap",
        heading=CAMPAIGN,
    )
    data_bytes: int | None = _setting(
        "data_cap_bytes",
        values.size,
        "5GB",
        note=f"default: {POLITE_BYTES / 1e9:g}GB",
        word="data_cap",
        heading=CAMPAIGN,
    )


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Request to run an experiment. Unset fields keep the experiment's values."""

    experiment: Place | ExperimentFile | None = field(
        default=None,
        kw_only=False,
        metadata=metadata(Option(means="a listed experiment or a TOML file", form=lambda: "EXPERIMENT")),
    )
    schemes: Schemes = option((), "names, TOML files; `all`: every one that can run here", values.names, "A,B|all")
    plugins: Names = option(
        (),
        "controllers of your own: a library (.so) or classes in Python (.py); repeatable",
        str,
        "FILE[:NAME]",
        word="plugin",
        repeats=True,
    )
    path: Paths = option((), "listed paths, TOML files or mahimahi traces", values.names, "P[,P2]")
    backend: str | None = _setting(
        "backend", lambda text: values.Suggestion(*_backends())(text), lambda: _choices(_backends())
    )
    runs: int | None = _setting("runs", values.count, "N")
    duration: float | None = _setting("duration_s", values.duration, "S", note="also 500ms, 2min")
    flows: int | None = _setting("flows", values.count, "N")
    interval: float | None = _setting("interval_s", values.seconds, "S", heading=MORE)
    mixes: Names = option((), "flows of several schemes in one run; repeatable", str, "A*2+B", word="mix", repeats=True)
    warmup: float | None = _setting("warmup_s", values.seconds, "S", heading=MORE)
    sample_interval: float | None = _setting("sample_interval_s", values.seconds, "S", note="also 50ms", heading=MORE)
    seed: int | None = _setting("seed", values.seed, "N")
    log: str | None = _setting("log", values.Choice(*LOGS), _choices(LOGS), heading=MORE)
    keep: str | None = _setting("keep", values.Choice(*KEEPS), _choices(KEEPS), heading=MORE)
    exact: bool = option(False, "simulated hosts answer in no time, flows start when they are told", heading=MORE)
    settings: Assignments = option(
        (),
        "anything else by its name: copa.delta=0.1, reno.transport.ack_every=1; repeatable",
        str,
        "KEY=VALUE",
        word="set",
        repeats=True,
    )
    cells: Names = option(
        (), "only these cells: paths as they are named in results", values.names, "C[,C2]", word="cell", heading=MORE
    )
    pantheon_dir: Place | None = option(
        None, "a Pantheon checkout: its wrappers become schemes pantheon-NAME", Path, "DIR", heading=MORE
    )
    until: str | None = option(
        None, "add runs until means are known so well, or modes are seen", str, "ci=2%|modes", heading=MORE
    )
    convention: str | None = _setting(
        "convention",
        values.Choice(*CONVENTIONS),
        _choices(CONVENTIONS),
        note="docs/reference/metrics.md",
        heading=MORE,
    )
    trust: bool = option(False, "run the programs and plug-ins that the experiment file names", heading=MORE)
    remote: Remote | None = _group(Remote, "how runs between two machines are made")
    campaign: Campaign | None = _group(Campaign, "runs at their times")
    random_order: bool | None = _setting(
        "random_order",
        None,
        heading=CAMPAIGN,
    )
    budget: Budget | None = _group(Budget, "what runs may use up: disk, bandwidth, data")
    jobs: int | None = option(
        None, "processes; default: one per processor; with real packets: 1", values.count, "N", heading=MORE
    )
    cluster: str | None = option(
        None, "a Dask scheduler whose workers execute the runs", str, "tcp://HOST:PORT", heading=MORE
    )
    shards: str | None = option(
        None,
        "a folder in a store of fsspec, such as s3://BUCKET/DIR: tables of numbers come from the cluster through it",
        str,
        "URL",
        heading=MORE,
    )
    out: Place | None = option(None, "directory of the results; default: results/EXPERIMENT-TIME", Path, "DIR")
    database: Place | None = option(
        None, "the numbers also go to this database, which may hold many", Path, "FILE", word="db_path", heading=MORE
    )
    resume: bool = option(False, "continue what is in the directory of the results")
    live: bool = option(False, "show what goes on in the browser; its address is printed", heading=MORE)
    watch: bool = option(False, "show what goes on here: rate, delay, state of each flow of real packets", heading=MORE)
    command: Sequence[str] = request_field(
        (),
        Option(means="the words of the command line that this call comes from; recorded", form=lambda: "WORDS"),
    )

    def chosen(self) -> SettingValues:
        """Return the given settings of an experiment, by their names in files."""
        values_by_name = dict(_chosen(self))
        for group in (self.remote, self.campaign, self.budget):
            values_by_name |= dict(_chosen(group)) if group is not None else {}
        return values_by_name | (dict(Settings.EXACT) if self.exact else {})

    @property
    def scheme_names(self) -> tuple[str, ...]:
        """Names of the schemes."""
        return tuple(scheme.name if isinstance(scheme, Scheme) else str(scheme) for scheme in schemes_of(self.schemes))

    @property
    def path_names(self) -> tuple[str, ...]:
        """Names of the paths."""
        return tuple(path.name if isinstance(path, PathModel) else str(path) for path in paths_of(self.path))

    @property
    def mix_names(self) -> tuple[str, ...]:
        """The mixes as strings."""
        return names_of(self.mixes)

    @property
    def cell_names(self) -> tuple[str, ...]:
        """Names of the only paths or cells that run; empty: all."""
        return names_of(self.cells)

    @property
    def assignments(self) -> tuple[str, ...]:
        """The `settings` as strings KEY=VALUE."""
        if isinstance(self.settings, Mapping):
            return tuple(f"{name}={_text(value)}" for name, value in self.settings.items())
        return names_of(self.settings)


def schemes_of(schemes: Schemes) -> list[str | Scheme]:
    """Return one or several schemes as a list."""
    return [schemes] if isinstance(schemes, str | Scheme) else list(schemes)


def paths_of(paths: Paths) -> list[str | PathModel | PathLike[str]]:
    """Return one or several paths as a list."""
    return [paths] if isinstance(paths, str | PathModel | PathLike) else list(paths)


def names_of(names: Names) -> tuple[str, ...]:
    """Return one or several names as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def _text(value: object) -> str:
    """Return a value as text for the command line."""
    return value if isinstance(value, str) else json.dumps(value)


def _chosen(request: object) -> Iterator[tuple[str, object]]:
    for name, option_ in options(type(request)):
        value = getattr(request, name)
        if option_.setting and value is not None:
            yield option_.setting, value
