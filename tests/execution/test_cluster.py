"""Runs on a Dask cluster: a scheduler and workers of its own on loopback, as a user starts them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Dumbbell

pytest.importorskip("distributed", reason="distributed is not installed: `make test` does it")

LEAST = ["run", "--schemes", "reno,cubic", "--path", "lossy.toml", "--duration", "2", "--runs", "2"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    note = tmp_path / "scheduler.json"
    common = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    processes = [
        subprocess.Popen(
            [*common, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(note)], **quiet
        )
    ]
    try:
        until = time.monotonic() + 60
        while not (note.exists() and note.read_text().strip()):
            assert time.monotonic() < until, "the scheduler did not start"
            time.sleep(0.1)
        address = json.loads(note.read_text())["address"]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", "127.0.0.1"]
        worker += ["--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--no-nanny"]
        processes.append(subprocess.Popen(worker, **quiet))
        # the client refuses a scheduler without workers: wait for the first
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def test_a_cluster_gives_the_same_bytes_as_this_machine(cluster: str, dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*LEAST, "--out", "here")
    dumbbell(*LEAST, "--out", "there", "--cluster", cluster)
    logs = sorted(file.relative_to(folder / "here") for file in (folder / "here").rglob("packets.parquet"))
    assert len(logs) == 4
    for log in logs:
        assert (folder / "here" / log).read_bytes() == (folder / "there" / log).read_bytes()
    (folder / "table.csv").write_text("scheme,throughput_mbps,delay_p95_ms\nreno,9.6,60\nvegas,9.5,25\n")
    search = ["calibrate", "table.csv", "--models", "queue", "--folds", "0", "--evaluations", "9", "--duration", "2"]
    dumbbell(*search, "--out", "found.toml")
    dumbbell(*search, "--out", "found-there.toml", "--name", "found", "--cluster", cluster)
    assert (folder / "found.toml").read_text() == (folder / "found-there.toml").read_text()


def test_what_is_no_cluster_is_refused_in_one_line(dumbbell: Dumbbell) -> None:
    for address in ("nonsense", "tcp://127.0.0.1:1"):
        done = dumbbell(*LEAST, "--out", "no", "--cluster", address, expect=2)
        assert done.stderr.count("\n") == 1, done.stderr
        assert address in done.stderr
