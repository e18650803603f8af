"""Batches of runs on a Dask cluster: workers simulate the runs, and send back the tables of each batch.

The tables come over the connections of the cluster, or through a folder in a store of fsspec.
"""

from __future__ import annotations

import errno
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from dumbbell.backends import find_executor
from dumbbell.base.clock import SYSTEM_CLOCK, Clock, now
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.base.scratch import Scratch
from dumbbell.core.batches import TABLES, BatchOutcome, simulate_batch
from dumbbell.execution.batches import BATCH_S, Batch, Making
from dumbbell.execution.cluster import Cluster, how_to_go_on, write_files
from dumbbell.results.integrity import facts_of, fault_of

if TYPE_CHECKING:
    from pathlib import Path

    from dumbbell.contract.run import KeptFile

FILES = tuple(f"{table}.parquet" for table in TABLES)
"""Files of a batch."""


@dataclass(frozen=True)
class Tables:
    """Tables of an experiment's runs in a batch; `facts` are their sizes and digests, empty without tables.

    `files` are the tables; with a store, `place` is the name of their folder in it.
    """

    facts: dict[str, KeptFile]
    files: dict[str, bytes]
    place: str = ""


@dataclass(frozen=True)
class Shard:
    """A batch made by a worker: the outcome of the runs, the duration, and the tables of each experiment."""

    outcome: BatchOutcome
    seconds: float
    tables: list[Tables]


class Store:
    """A folder for tables on their way from the workers: a URL such as s3://BUCKET/FOLDER."""

    def __init__(self, url: str) -> None:
        """Find the store, without reading or writing.

        Raises:
            UserError: If the kind of store is unknown, or its package is not installed.
        """
        self._url = url
        with self._converted_errors():
            from fsspec.core import url_to_fs

            self._files, self._root = url_to_fs(url)

    def make(self) -> None:
        """Make the folder.

        Raises:
            UserError: If the folder cannot be made.
        """
        with self._converted_errors():
            self._files.makedirs(self._root, exist_ok=True)

    def put(self, files: dict[str, bytes]) -> str:
        """Write files into a new folder inside the store, and return the name of the folder.

        Raises:
            UserError: If the files cannot be written.
        """
        name = uuid.uuid4().hex
        with self._converted_errors():
            # the parent must exist: the store is removed when the command ends
            self._files.mkdir(f"{self._root}/{name}", create_parents=False)
            for file, content in files.items():
                self._files.pipe_file(f"{self._root}/{name}/{file}", content)
        return name

    def take(self, tables: Tables) -> dict[str, bytes]:
        """Read the files of tables, with the number of bytes from their facts; then remove their folder.

        Raises:
            UserError: If the files cannot be read.
        """
        with self._converted_errors():
            folder, facts = f"{self._root}/{uuid.UUID(tables.place).hex}", tables.facts
            contents = {name: self._files.cat_file(f"{folder}/{name}", 0, facts[name]["bytes"]) for name in FILES}
            self._files.rm(folder, recursive=True)
        return contents

    def remove(self) -> None:
        """Remove the folder and its content.

        Raises:
            UserError: If the folder cannot be removed.
        """
        with self._converted_errors():
            self._files.rm(self._root, recursive=True)

    @contextmanager
    def _converted_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # each kind of store has errors of its own
            raise UserError(one_line(error), argument="shards", value=self._url) from None

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        """Return the constructor and the argument with which a worker makes an equal store."""
        return Store, (self._files.unstrip_protocol(self._root),)


def perform_batch(batch: Batch, store: Store | None = None, clock: Clock = SYSTEM_CLOCK) -> Shard:
    """Simulate runs on one thread of a worker, for the duration of a batch.

    Raises:
        UserError: If the tables cannot be written into the store.
        Exception: If the tables cannot be written on this machine.
    """
    began = clock.monotonic()
    with Scratch("worker") as folder:
        places = [folder / str(number) for number in range(batch.folders)]
        for place in places:
            place.mkdir()
        batch_outcome = simulate_batch(batch.templates, batch.runs, places, now(), 1, BATCH_S)
        tables = [_tables(place, store) for place in places]
    return Shard(batch_outcome, clock.monotonic() - began, tables)


def _tables(folder: Path, store: Store | None) -> Tables:
    """Return the tables in a folder, or put them into the store; empty without tables."""
    names = [name for name in FILES if (folder / name).exists()]
    facts = facts_of(Entry.of(folder), names)
    files = {name: (folder / name).read_bytes() for name in names}
    return Tables(facts, files) if store is None or not names else Tables(facts, {}, store.put(files))


def make_there(making: Making, address: str, shards: str | None) -> None:
    """Let the workers of a cluster make batches, one per thread. Each batch is made durable on arrival.

    `shards` is the URL of a folder in a store through which the tables come.

    Raises:
        UserError: If the cluster or the store is gone, or if a batch was lost repeatedly.
        OSError: If the tables cannot be written.
        KeyboardInterrupt: On Ctrl-C.
    """
    store = None if shards is None else Store(f"{shards.rstrip('/')}/dumbbell-{uuid.uuid4().hex}")
    cluster = Cluster(address, find_executor(making.writes.experiment))
    try:
        if store is not None:
            store.make()
        making.places = cluster.places
        for batch, shard in cluster.perform_all(partial(perform_batch, store=store), making, making.parts):
            if not isinstance(shard, Shard):
                raise UserError(f"the cluster lost a batch of runs: {one_line(shard)}", fix=how_to_go_on())
            if store is not None:
                tables = [replace(table, files=store.take(table)) if table.facts else table for table in shard.tables]
                shard = replace(shard, tables=tables)
            with Uninterrupted() as shield:
                _keep(making, batch, shard)
            if shield.was_interrupted:
                raise KeyboardInterrupt
    finally:
        with Uninterrupted() as cleaning:
            cluster.stop()
            if store is not None:
                with suppress(UserError):  # the store may be gone
                    store.remove()
        if cleaning.was_interrupted:
            raise KeyboardInterrupt


def _keep(making: Making, batch: Batch, shard: Shard) -> None:
    """Make the tables from a worker durable, if their digests are correct.

    Raises:
        OSError: If a digest is wrong, or the tables cannot be written.
    """
    folders = making.new_folders(batch)
    for place in {batch.folder_of(run) for run in shard.outcome.finished_runs}:
        folder, tables = folders[place], shard.tables[place]
        write_files(folder, {name: tables.files.get(name, b"") for name in FILES})
        for name in FILES:
            if (fault := fault_of(folder / name, tables.facts.get(name, {}))) is not None:
                raise OSError(errno.EBADMSG, "what a worker sent has changed on its way", fault)
    making.keep(batch, shard.outcome, folders, shard.seconds)
