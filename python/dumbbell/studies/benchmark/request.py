"""Request of a benchmark: all arguments of `dumbbell benchmark` and `dumbbell.run_benchmark`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TypeAlias

from dumbbell.base.request_fields import Option, metadata, option, option_like
from dumbbell.catalog.options.values import names
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import Names, Place, RunRequest, Schemes

Files: TypeAlias = Place | Iterable[Place]


@dataclass(frozen=True, kw_only=True)
class BenchmarkRequest:
    """Request to run every standard experiment for some schemes."""

    schemes: Schemes = field(
        kw_only=False,
        metadata=metadata(
            Option(
                means="the schemes under test; reference schemes are added",
                read=names,
                form=lambda: "A[,B]",
                is_required=True,
            )
        ),
    )
    quick: bool = option(False, "fewer cells, one run each: under three minutes for one scheme")
    only: Names = option((), "only these experiments", names, "NAME[,NAME]")
    path: str | PathModel | PathLike[str] | None = option(
        None, "experiments that use the path `default` use this one, the others are left out", str, "P"
    )
    baselines: Schemes = option(
        (),
        "judge the schemes beside these, in every experiment; default: cubic,bbr where an experiment has them",
        names,
        "A[,B]",
    )
    experiments: Files = option(
        (),
        "experiments of your own, beside the standard ones",
        names,
        "FILE.toml[,FILE.toml]",
        word="experiment",
        repeats=True,
    )
    jobs: int | None = option_like(RunRequest, "jobs")
    cluster: str | None = option_like(RunRequest, "cluster")
    out: Place | None = option_like(
        RunRequest, "out", "directory of the results; default: results/benchmark-SCHEMES-quick or -full"
    )
    database: Place | None = option_like(
        RunRequest,
        "database",
        "the numbers go to this database, which may hold many; default: benchmark.sqlite in DIR",
    )
    resume: bool = option_like(RunRequest, "resume")
    live: bool = option_like(RunRequest, "live")
    watch: bool = option_like(RunRequest, "watch")
    command: Sequence[str] = option_like(RunRequest, "command")
