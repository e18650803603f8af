"""Tests of runs on a Dask cluster: a scheduler and workers on loopback, as a user starts them."""

import os
import re
import resource
import signal
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed.client import Client, FutureCancelledError

from dumbbell.base.errors import UserError
from dumbbell.execution.cluster import NO_WORKER_S, Cluster
from support.clock import ManualClock
from support.clusters import running
from support.commands.command import COMMAND, PROGRESS, Dumbbell
from support.waiting import TIMEOUT_S, wait_for

LEAST = ["run", "--schemes", "reno,cubic", "--path", "lossy.toml", "--duration", "2", "--runs", "2"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    with running(tmp_path) as address:
        yield address


def test_the_log_of_a_run_that_fails_in_a_worker_comes_back(dumbbell: Dumbbell, folder: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # its disk is full, as it were

    with running(folder, limit) as address:
        words = ["-v", "run", "--schemes", "reno", "--path", "lossy.toml", "--duration", "2", "--out", "out"]
        result = dumbbell(*words, "--cluster", address, expect=1)
    log = (folder / "out/runs/lossy/reno/1/log.txt").read_text()
    assert "(log: out/runs/lossy/reno/1/log.txt)" in result.stderr
    begins = rf" begins backend=sim seed=\d+ host={socket.gethostname()} pid=\d+ worker=tcp://127.0.0.1:\d+ python="
    assert re.search(begins, log), log
    assert "specification: {" in log
    assert re.search(r"error execution.worker: failed: .*File too large", log.splitlines()[-1]), log
    # The line came back from the worker, because of `-v`.
    assert re.search(rf"info  execution.worker: \[reno on lossy, run 1\]{begins}", result.stderr)


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
        result = dumbbell(*LEAST, "--out", "no", "--cluster", address, expect=2)
        assert result.stderr.count("\n") == 1, result.stderr
        assert address in result.stderr


@pytest.mark.kills
def test_a_scheduler_that_is_killed_ends_the_command_in_one_line_and_resume_goes_on(
    cluster: str, dumbbell: Dumbbell, folder: Path
) -> None:
    """Such a command reported an internal error, and later a traceback of distributed before the line."""
    with Client(cluster, set_as_default=False) as client:
        scheduler = client.run_on_scheduler(os.getpid)
    words = ["run", "--schemes", "reno", "--path", "lossy.toml", "--duration", "20", "--runs", "40", "--out", "out"]
    process = subprocess.Popen([*COMMAND, *words, "--cluster", cluster], cwd=folder, stderr=subprocess.PIPE, text=True)

    def made_count() -> int:
        return len(list((folder / "out/runs").glob("*/*/*/stats.json")))

    wait_for(lambda: made_count() or process.poll() is not None, "no run was finished")
    os.kill(scheduler, signal.SIGKILL)
    _, stderr = process.communicate(timeout=TIMEOUT_S)
    lines = [line for line in stderr.splitlines() if not PROGRESS.search(line)]
    hint = "finished runs are kept, and --resume makes the others"
    assert lines == [f"dumbbell: the cluster at {cluster} is gone: {hint}"]
    assert process.returncode == 2
    assert 0 < made_count() < 40
    dumbbell("run", "--resume", "--out", "out")
    assert made_count() == 40


class Notes:
    """A stage that keeps its notes."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, _number: int, text: str, stands_still: bool = False) -> None:
        """Keep a text."""
        self.said.append(f"{text}{' ...' if stands_still else ''}")


class Workers:
    """A client of a scheduler with `count` workers."""

    count = 0

    def nthreads(self) -> dict[str, int]:
        """Return the threads of each worker."""
        return {str(number): 1 for number in range(self.count)}


def cluster_of(clock: ManualClock) -> Cluster:
    """Return a cluster that has lost its workers."""
    bare_cluster = Cluster.__new__(Cluster)
    bare_cluster.client, bare_cluster._clock, bare_cluster._address, bare_cluster._workers_left = (
        Workers(),
        clock,
        "tcp://lost",
        None,
    )
    return bare_cluster


def test_a_scheduler_without_workers_is_waited_for_a_while() -> None:
    clock, notes = ManualClock(), Notes()
    lost_cluster = cluster_of(clock)
    look = partial(lost_cluster._look_for_workers, {"run": SimpleNamespace(number=1)}, notes)  # type: ignore[arg-type]
    look()
    clock.turn(NO_WORKER_S - 1.0)
    look()
    lost_cluster.client.count = 1
    look()
    assert notes.said == ["the cluster has no worker, one is waited for ...", "the cluster has a worker again"]
    lost_cluster.client.count = 0
    look()
    clock.turn(NO_WORKER_S)
    with pytest.raises(UserError) as caught:
        look()
    message = f"the cluster at tcp://lost has had no worker for {NO_WORKER_S:g} s: finished runs are kept"
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("error", [FutureCancelledError("run", "lost dependencies"), OSError("in this comm")])
def test_a_cluster_that_is_gone_is_one_line(error: Exception) -> None:
    with pytest.raises(UserError) as caught, cluster_of(ManualClock())._connected():
        raise error
    assert str(caught.value).startswith("the cluster at tcp://lost is gone: finished runs are kept")
