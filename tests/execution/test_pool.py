"""The workers of a pool wait between stages, and make the runs of the next stage if these are of their kind."""

import os
import signal
from pathlib import Path

from dumbbell.backends.sim import Simulator
from dumbbell.base.backend import SIMULATION
from dumbbell.execution.pool import Pool

EXECUTOR = Simulator(SIMULATION)


def pids(pool: Pool) -> list[int | None]:
    return sorted(worker.process.pid or 0 for worker in pool.workers)


def stage(pool: Pool, folder: Path, count: int, has_plugins: bool = True) -> list[int | None]:
    """Begin a stage and end it; return the processes of its workers."""
    pool.begin(EXECUTOR, count, folder, has_plugins)
    processes = pids(pool)
    pool.stop()
    return processes


def test_workers_wait_for_the_next_stage_and_get_its_folder_and_share_of_memory(tmp_path: Path) -> None:
    with Pool() as pool:
        before = stage(pool, tmp_path / "first", 2)
        pool.begin(EXECUTOR, 1, tmp_path / "second", has_plugins=True)
        (worker,) = pool.workers
        assert worker.process.pid in before
        assert worker.bounds is not None
        assert worker.bounds.last_words.parent == tmp_path / "second"
        alone = worker.bounds.memory_bytes
        pool.stop()
        pool.begin(EXECUTOR, 2, tmp_path / "third", has_plugins=True)
        assert pids(pool) == before
        assert all(worker.bounds is not None and worker.bounds.memory_bytes <= alone for worker in pool.workers)
        assert len({worker.bounds for worker in pool.workers}) == 2
        processes = [worker.process for worker in pool.workers]
    assert not any(process.is_alive() for process in processes)


def test_workers_of_another_kind_or_that_have_died_are_not_taken(tmp_path: Path) -> None:
    with Pool() as pool:
        (plain,) = stage(pool, tmp_path, 1, has_plugins=False)
        pool.begin(EXECUTOR, 1, tmp_path, has_plugins=True)
        (worker,) = pool.workers
        assert worker.process.pid not in (plain, None)
        pool.stop()
        os.kill(worker.process.pid or 0, signal.SIGKILL)
        worker.process.join()
        assert stage(pool, tmp_path, 1) != [worker.process.pid]
