"""Dask cluster for a test."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .waiting import TIMEOUT_S, wait_for


@contextmanager
def running(tmp_path: Path, before_worker: Callable[[], None] | None = None, workers: int = 1) -> Iterator[str]:
    """Start a scheduler with one worker or more; the workers' processes begin with `before_worker`."""
    note = tmp_path / "scheduler.json"
    common = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    processes = [
        subprocess.Popen(
            [*common, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(note)], **quiet
        )
    ]
    try:
        wait_for(lambda: note.exists() and note.read_text().strip(), "the scheduler did not start")
        address = json.loads(note.read_text())["address"]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--host", "127.0.0.1"]
        worker += ["--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--no-nanny"]
        processes += [subprocess.Popen(worker, preexec_fn=before_worker, **quiet) for _ in range(workers)]
        # The client refuses a scheduler without workers, so wait for them.
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=TIMEOUT_S)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(TIMEOUT_S)
