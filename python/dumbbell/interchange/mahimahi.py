"""A log of mahimahi's mm-link as a results directory with one run."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from dumbbell import _core
from dumbbell.catalog import PathModel
from dumbbell.errors import UserError
from dumbbell.experiment import Experiment
from dumbbell.interchange.pantheon_import import imported_scheme, measure, refuse_used
from dumbbell.results import Recording, Results, write_environment
from dumbbell.results.directory import to_toml
from dumbbell.results.environment import environment, now
from dumbbell.results.files import publish, to_json, write_atomically


@dataclass(frozen=True)
class LinkLogs:
    """The logs of both directions and what made the traffic."""

    data: Path
    ack: Path | None
    scheme: str


def import_mahimahi(logs: LinkLogs, out: Path, command: list[str]) -> Results:
    """Imports mm-link logs into the new directory `out`, completely or not at all.

    Raises:
        UserError: a log cannot be used, or `out` is in use.
    """
    refuse_used(out)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", logs.scheme):
        raise UserError(f"--scheme `{logs.scheme}`: allowed are letters, digits and `._-`")
    temporary = out.with_name(f".{out.name}.importing")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        packets = temporary / "packets.parquet"
        ack = None if logs.ack is None else str(logs.ack)
        found = json.loads(_core.import_mahimahi(str(logs.data), ack, str(packets)))
        if found["unusable"]:
            raise UserError(str(found["unusable"]))
        results = Results(temporary, _experiment(logs, found["last_s"]))
        write_atomically(temporary / "experiment.toml", to_toml(results.experiment.table()))
        write_environment(results, environment(command) | {"imported": {"source": str(logs.data.resolve())}})
        run = results.experiment.all_runs()[0]
        folder = results.unfinished / "1"
        folder.mkdir(parents=True)
        packets.rename(folder / "packets.parquet")
        statistics = measure(folder / "packets.parquet", results.experiment, run)
        statistics |= {"backend": "import", "status": "done", "reason": None, "init_us": found["init_us"]}
        statistics |= {"events": found["records"], "sim_wall_s": None}
        (folder / "log.txt").write_text(f"{now()} imported from {logs.data.name}\n", encoding="utf-8")
        (folder / "stats.json").write_text(to_json(results.complete(run, statistics)), encoding="utf-8")
        publish(folder, results.folder(run))
        results.unfinished.rmdir()
        Recording([results]).close()
        if out.exists():
            out.rmdir()
        temporary.rename(out)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return Results(out, results.experiment)


def _experiment(logs: LinkLogs, last_s: float) -> Experiment:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", logs.data.stem).strip("._-") or "mahimahi"
    path = PathModel(name=name, title=f"mahimahi: {logs.data.name}", provenance="measured with mahimahi's mm-link")
    return Experiment(
        name=name,
        title=path.title,
        backend="import",
        runs=1,
        duration_s=max(last_s, 1e-3),
        warmup_s=0.0,
        seed=0,
        random_order=False,
        sample_interval_s=0.1,
        log="packets",
        flows=1,
        interval_s=0.0,
        start_spread_ms=0.0,
        flow=(),
        labels=(logs.scheme,),
        mixes=(),
        schemes={logs.scheme: imported_scheme(logs.scheme)},
        paths={name: path},
    )
