"""Tests of batches on a Dask cluster: this machine's numbers, whole batches or none, tables through any store."""

import json
import os
import resource
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import UserError
from dumbbell.base.progress import Progress
from dumbbell.execution import cluster_batches
from dumbbell.execution.batches import Making
from dumbbell.execution.cluster_batches import FILES, Store, Tables, perform_batch
from dumbbell.execution.pool import Work
from dumbbell.results.directory import open_results
from support.clusters import running
from support.commands.command import COMMAND, Dumbbell
from support.waiting import TIMEOUT_S, wait_for

pytest.importorskip("distributed", reason="distributed is not installed: `make test` does it")

SOME = ("run", "--schemes", "reno,copa", "--path", "small.toml", "--duration", "0.5", "--warmup", "0.1")
NUMBERS = ("--keep", "numbers")
WHEN = {"sim_wall_s", "started_at"}
"""Statistics that say how fast a run was made."""


def numbers(dumbbell: Dumbbell, directory: str) -> list[dict[str, Any]]:
    """Return the runs of `show --json` without the keys that say how they were made."""
    runs = json.loads(dumbbell("show", directory, "--json").stdout)["runs"]
    return [{key: value for key, value in run.items() if key not in WHEN} for run in runs]


def test_a_cluster_gives_the_same_numbers_as_this_machine(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*SOME, *NUMBERS, "--runs", "4", "--out", "here")
    with running(folder) as address:
        options = (*SOME, *NUMBERS, "--cluster", address)
        dumbbell(*options, "--runs", "2", "--out", "there")
        errors = dumbbell(*options, "--runs", "4", "--out", "there", "--resume").stderr
        dumbbell(*options, "--runs", "4", "--out", "stored", "--shards", f"file://{folder}/store")
    assert "4 of 8 runs are finished already" in errors
    for out in ("there", "stored"):
        assert json.dumps(numbers(dumbbell, out)) == json.dumps(numbers(dumbbell, "here"))
        assert dumbbell("verify", out).stdout.startswith("8 of 8 finished runs are whole")
    assert list((folder / "store").iterdir()) == []
    dumbbell("rerun", "there", "small/copa/3")


def test_a_worker_that_cannot_write_ends_the_command_in_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # its disk is full, as it were

    with running(folder, limit) as address:
        errors = dumbbell(*SOME, *NUMBERS, "--cluster", address, "--out", "out", expect=2).stderr
    last_line = errors.splitlines()[-1]
    assert last_line.startswith("dumbbell: the cluster lost a batch of runs: "), errors
    assert "File too large" in last_line
    assert last_line.endswith("finished runs are kept, and --resume makes the others")
    dumbbell("run", "--resume", "--out", "out")
    assert {run["status"] for run in numbers(dumbbell, "out")} == {"done"}


def test_a_store_that_nothing_passes_through_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    for words, expected in [
        (["--shards", "memory://x", *NUMBERS], "--shards memory://x: allowed with --cluster and --keep numbers only"),
        (["--shards", "memory://x", "--cluster", "tcp://127.0.0.1:1"], "allowed with --cluster and --keep numbers"),
        (["--shards", "nowhere://x", "--cluster", "tcp://127.0.0.1:1", *NUMBERS], "--shards nowhere://x: "),
    ]:
        errors = dumbbell(*SOME, *words, "--out", "refused", expect=2).stderr
        assert errors.count("\n") == 1, errors
        assert expected in errors
        assert not (folder / "refused").exists()


@pytest.fixture(name="making")
def _making(dumbbell: Dumbbell, folder: Path) -> Making:
    """Return the making of four runs."""
    dumbbell(*SOME, *NUMBERS, "--runs", "2", "--out", "out")
    results = open_results(folder / "out")
    results.numbers.remove(1)
    return Making([Work(results, results.experiment.all_runs())], Progress())


def test_tables_pass_through_a_store(making: Making) -> None:
    store = Store("memory://shards/one")
    store.make()
    batch = next(making)
    plain, stored_batch = perform_batch(batch), perform_batch(batch, store)
    (plain_table,), (stored_table,) = plain.tables, stored_batch.tables
    assert sorted(plain_table.files) == sorted(plain_table.facts) == sorted(FILES)
    assert stored_batch.outcome == plain.outcome
    assert not stored_table.files
    take = store.take(stored_table)
    assert {name: len(content) for name, content in take.items()} == {
        name: facts["bytes"] for name, facts in stored_table.facts.items()
    }
    with pytest.raises(UserError, match=r"^shards memory://shards/one: "):
        store.take(stored_table)  # it is taken once
    with pytest.raises(UserError, match="badly formed"):
        store.take(Tables(stored_table.facts, {}, "../elsewhere"))
    store.remove()


def test_tables_that_changed_on_their_way_are_refused(making: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = next(making)
    shard = perform_batch(batch)
    (tables,) = shard.tables
    shard.tables[0] = replace(tables, files={name: content[::-1] for name, content in tables.files.items()})
    with pytest.raises(OSError, match="has changed on its way"):
        cluster_batches._keep(making, batch, shard)
    assert making.writes.numbers.batches() == []


def test_runs_are_shared_between_places(making: Making) -> None:
    making.places = 3
    batches = [next(making), next(making), next(making)]
    assert [len(batch.planned) for batch in batches] == [2, 1, 1]
    with pytest.raises(StopIteration):
        next(making)
    made_batch = perform_batch(batches[1])
    made_batch.outcome.finished_runs.clear()
    making.keep(batches[1], made_batch.outcome, making.new_folders(batches[1]), 1.0)
    assert next(making).planned == batches[1].planned


@pytest.mark.kills
def test_a_worker_that_is_killed_loses_its_batch_at_most(dumbbell: Dumbbell, folder: Path) -> None:
    from distributed import Client

    more = (*SOME, *NUMBERS, "--runs", "3000")
    with running(folder, workers=2) as address:
        process = subprocess.Popen([*COMMAND, *more, "--out", "out", "--cluster", address], cwd=folder)
        with Client(address, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))
            numbers_folder = folder / "out/numbers"
            wait_for(lambda: numbers_folder.exists() or process.poll() is not None, "no batch was finished")
            os.kill(victim, signal.SIGKILL)
            assert process.wait(TIMEOUT_S) == 0
    results = open_results(folder / "out")
    assert len(list(results.numbers.finished())) == 6000
    assert dumbbell("verify", "out").stdout.startswith("6000 of 6000 finished runs are whole")
