"""Tests that kill commands with SIGKILL at random moments: no finished result may be lost.

Finished results stay as they are. A continued command ends as if nothing had happened (simulated runs to the bit), and
no process stays behind. `make fuzz` makes a hundred kills. The seed and the machine's speed determine which command is
killed when.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.inputs import paths
from support.waiting import TIMEOUT_S

COMMAND = [sys.executable, "-m", "dumbbell"]
GONE_WITHIN_S = 10.0

TIMES = ("sim_wall_s", "started_at", "ended_at", "emulation", "init_us")
"""Keys of a run's statistics that say when and how fast the run was made."""

Contents = dict[str, str]
"""Contents of results, by file."""


class LossError(AssertionError):
    """Results were lost or changed, or processes or files stayed behind."""


@dataclass(frozen=True)
class Subject:
    """A command that is killed.

    `words` is the command and `again` continues or repeats it, both in a copy of a folder that `prepare` has filled.
    `parts` returns the contents that must not depend on the number of kills. `check` is called after each kill.
    """

    name: str
    words: tuple[str, ...]
    again: tuple[str, ...]
    parts: Callable[[Path], Contents]
    prepare: Callable[[Path], None] = lambda _: None
    check: Callable[[Path], object] = lambda _: None
    begin_files: tuple[str, ...] = ("out/experiment.toml", "out/benchmark.json")
    """Files of which at least one exists as soon as there is something to continue."""
    make_victim: "Callable[[Subject, Path, random.Random], Victim] | None" = None
    """Function that makes this subject's victim; None: `Victim`."""

    def victim(self, folder: Path, draw: random.Random) -> "Victim":
        """Return a victim of this subject, in a folder of its own."""
        return (self.make_victim or Victim)(self, folder, draw)


MOST_LATE = 20
"""Maximum number of successive kills that come after the end of their command."""


@dataclass
class Tally:
    """Number of kills, in all and by subject."""

    kills: int = 0
    in_time: int = 0
    by_subject: dict[str, int] = field(default_factory=dict)


def _run(folder: Path, words: Iterable[str]) -> None:
    result = subprocess.run(
        [*COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    if result.returncode != 0 or "Traceback" in result.stderr:
        raise LossError(f"{' '.join(words)}: {result.returncode}: {result.stderr[-2000:]}")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _run_files(folder: Path, bits: bool = True) -> Contents:
    """Return the files of finished runs; statistics without the keys that depend on the moment."""
    contents = {}
    for file in sorted(folder.rglob("stats.json")):
        if ".unfinished" in str(file.relative_to(folder)):
            continue
        try:
            statistics: dict[str, Any] = json.loads(file.read_text())
        except ValueError as error:
            raise LossError(f"{file}: {error}") from None
        if statistics["status"] not in ("done", "degraded"):
            continue
        name = str(file.parent.relative_to(folder))
        contents[name] = (
            statistics["scheme"]
            if not bits
            else json.dumps({key: value for key, value in statistics.items() if key not in TIMES}, sort_keys=True)
        )
        for other in sorted(file.parent.glob("*.parquet")) if bits else ():
            contents[f"{name}/{other.name}"] = _digest(other.read_bytes())
    return contents


def _settled_files(folder: Path) -> dict[str, str]:
    """Return every byte of finished runs; no byte may change once it is there."""
    return {
        str(file): _digest(file.read_bytes())
        for statistics in folder.rglob("stats.json")
        if ".unfinished" not in str(statistics.relative_to(folder))
        and json.loads(statistics.read_text())["status"] in ("done", "degraded")
        for file in statistics.parent.iterdir()
    }


def _whole_pages(folder: Path) -> Contents:
    """Return the pages; each is complete or absent."""
    pages = {}
    for file in folder.rglob("*.html"):
        text = file.read_text()
        if not text.rstrip().endswith("</html>"):
            raise LossError(f"{file}: is cut off")
        pages[str(file.relative_to(folder))] = "whole"
    for file in folder.rglob("*.pdf"):
        if b"%%EOF" not in file.read_bytes()[-32:]:
            raise LossError(f"{file}: is cut off")
    return pages


def _nothing_unfinished(folder: Path) -> None:
    left = [str(file) for file in folder.rglob("*") if ".unfinished" in file.name or file.suffix == ".tmp"]
    if left:
        raise LossError(f"left behind: {', '.join(left)}")


def _table(folder: Path) -> Contents:
    """Return the learned file, which is complete or absent."""
    file = folder / "learned.json"
    if not file.exists():
        return {}
    try:
        json.loads(file.read_text())
    except ValueError as error:
        raise LossError(f"{file}: {error}") from None
    return {file.name: _digest(file.read_bytes())}


def _calibration_parts(folder: Path) -> Contents:
    """Return the trials and the path of a calibration. The path is complete or absent, and always the same."""
    contents = {}
    journal = folder / "found.calibration" / "evaluations.jsonl"
    if journal.exists():
        complete_lines = journal.read_bytes().rpartition(b"\n")[0]
        contents = {_digest(line): "whole" for line in complete_lines.splitlines()}
    file = folder / "found.toml"
    if file.exists():
        try:
            contents[file.name] = str(tomllib.loads(file.read_text())["data"])
        except ValueError as error:
            raise LossError(f"{file}: {error}") from None
    return contents


def _with_table(folder: Path) -> None:
    text = "scheme,throughput_mbps,delay_p95_ms\nreno,9.6,60\nvegas,9.5,25\n"
    (folder / "table.csv").write_text(text)


def _paths(folder: Path) -> None:
    (folder / "lab.toml").write_text(paths.path_text(loss=0.001))


def _with_results(folder: Path) -> None:
    _paths(folder)
    _run(folder, (*_SIMULATED, "--duration", "2", "--runs", "4", "--out", "out"))


def _with_pantheon(folder: Path) -> None:
    _paths(folder)
    _run(folder, (*_SIMULATED, "--duration", "4", "--runs", "4", "--out", "made"))
    _run(folder, ("export", "pantheon", "made", "--out", "logs"))


def _all_or_nothing(folder: Path) -> None:
    if (folder / "out").exists() and len(_run_files(folder / "out")) != 4 * 2 * 2:
        raise LossError(f"{folder / 'out'}: is there, but not completely: {sorted(_run_files(folder / 'out'))}")


def _between_two_machines(subject: Subject, folder: Path, draw: random.Random) -> "Victim":
    from remote.kills import RemoteVictim

    return RemoteVictim(subject, folder, draw)


_SEARCH = ("calibrate", "table.csv", "--out", "found.toml", "--models", "queue", "--folds", "2", "--jobs", "2")
_SIMULATED = ("run", "--schemes", "reno,cubic", "--path", "lab.toml", "--jobs", "2")
_LONG = (*_SIMULATED, "--duration", "20", "--runs", "12", "--out", "out")
_REAL = ("run", "--backend", "emu", "--schemes", "reno", "--path", "lab.toml", "--duration", "0.5", "--runs", "4")
_REMOTE = ("run", "--backend", "remote:10.2.0.2:2222", "--schemes", "copa,kernel-cubic,iperf3", "--duration", "1")
_TRAINED = ("train", "remy", "--networks", "2", "--packets", "1000", "--rules", "20", "--link-mbps", "10,20")
_EPOCHS = (*_TRAINED, "--on-ms", "500", "--epochs", "3", "--jobs", "2", "--out", "learned.json")
_QUICK = ("benchmark", "--schemes", "reno", "--quick", "--only", "steady_state_single_flow", "--out", "out")

SUBJECTS = {
    subject.name: subject
    for subject in (
        Subject("sim", _LONG, (*_LONG, "--resume"), _run_files, _paths),
        Subject(
            "emu",
            (*_REAL, "--out", "out"),
            (*_REAL, "--out", "out", "--resume"),
            lambda folder: _run_files(folder, bits=False),
            _paths,
        ),
        Subject("report", ("report", "out"), ("report", "out"), _whole_pages, _with_results),
        Subject(
            "import",
            ("import", "pantheon", "logs", "--out", "out"),
            ("import", "pantheon", "logs", "--out", "out"),
            lambda folder: _run_files(folder / "out"),
            _with_pantheon,
            _all_or_nothing,
        ),
        Subject("benchmark", _QUICK, (*_QUICK, "--resume"), _run_files, _paths),
        Subject(
            "remote",
            (*_REMOTE, "--out", "out"),
            (*_REMOTE, "--out", "out", "--resume"),
            lambda folder: _run_files(folder, bits=False),
            make_victim=_between_two_machines,
        ),
        Subject(
            "calibrate",
            _SEARCH,
            (*_SEARCH, "--resume"),
            _calibration_parts,
            _with_table,
            begin_files=("found.calibration",),
        ),
        Subject("train", _EPOCHS, (*_EPOCHS, "--resume"), _table, check=_table, begin_files=("learned.json",)),
    )
}


class Victim:
    """A subject in a folder of its own, killed and continued any number of times."""

    of_others = 0.25
    """Probability that one of the command's processes is killed first."""
    goes_on_s = 0.3
    """Maximum time that the command then goes on before it is killed too, s."""
    remark = ""
    """Remark about the last kill."""

    def __init__(self, subject: Subject, folder: Path, draw: random.Random) -> None:
        """Prepare the folder, and run the command once without a kill to measure its duration and results."""
        self.subject, self.folder, self.draw = subject, folder, draw
        self.prepared = folder / "prepared"
        self.prepared.mkdir()
        subject.prepare(self.prepared)
        reference = folder / "reference"
        shutil.copytree(self.prepared, reference)
        start_s = time.monotonic()
        self.run(reference, subject.words)
        self.takes_s = time.monotonic() - start_s
        self.expected = subject.parts(reference)
        self.number = 0
        self.place = self._afresh()

    def _afresh(self) -> Path:
        self.number += 1
        place = self.folder / str(self.number)
        shutil.copytree(self.prepared, place)
        return place

    def kill(self) -> bool:
        """Kill the command or one of its processes; return True if the kill came in time.

        If the command had ended before, its results are checked, and it begins afresh.
        """
        words = self.subject.again if self._has_results() else self.subject.words
        before = _settled_files(self.place)
        process = self.start(words)
        time.sleep(self.draw.uniform(0.0, self.lasts_s()))
        children = self.children(process.pid)
        target = self.draw.choice(children) if children and self.draw.random() < self.of_others else process.pid
        in_time = process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, signal.SIGKILL)
        if target != process.pid:
            # The command goes on without its process, or ends; either way it reports the kill.
            time.sleep(self.draw.uniform(0.0, self.goes_on_s))
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.check_gone(process.pid)
        after = _settled_files(self.place)
        changed_files = [file for file, digest in before.items() if after.get(file) != digest]
        if changed_files and self.subject.name != "import":
            raise LossError(f"{self.subject.name}: changed or gone after a kill: {', '.join(changed_files)}")
        self.subject.check(self.place)
        if not in_time:
            self.finish()
        return in_time

    def _has_results(self) -> bool:
        return any((self.place / name).exists() for name in self.subject.begin_files)

    def run(self, folder: Path, words: Iterable[str]) -> None:
        """Run a command to its successful end."""
        _run(folder, words)

    def start(self, words: Iterable[str]) -> "subprocess.Popen[bytes]":
        """Start the command that is killed, in a session of its own."""
        return subprocess.Popen(
            [*COMMAND, *words],
            cwd=self.place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def lasts_s(self) -> float:
        """Return the approximate duration of the remaining work, s."""
        return self.takes_s

    def children(self, process: int) -> list[int]:
        """Return the processes that a kill may hit instead of the command."""
        return [pid for pid in _of_session(process) if pid != process]

    def check_gone(self, session: int) -> None:
        """Wait until no process of the command is left.

        Raises:
            LossError: A process stays.
        """
        deadline = time.monotonic() + GONE_WITHIN_S
        while left := _of_session(session):
            if time.monotonic() > deadline:
                words = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in left]
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                raise LossError(f"{self.subject.name}: processes stay behind: {words}")
            time.sleep(0.05)

    def close(self) -> None:
        """Release what was made for the victim."""

    def finish(self) -> None:
        """Continue to the end, compare with an undisturbed run, and begin afresh."""
        if self._is_to_be_continued():
            self.run(self.place, self.subject.again if self._has_results() else self.subject.words)
        self.compare()
        self.place = self._afresh()

    def compare(self) -> None:
        """Compare with an undisturbed run.

        Raises:
            LossError: The contents differ, or something unfinished is there.
        """
        contents = self.subject.parts(self.place)
        if contents != self.expected:
            different = [
                name for name in contents.keys() | self.expected if contents.get(name) != self.expected.get(name)
            ]
            raise LossError(f"{self.subject.name}: differs from an undisturbed run: {', '.join(sorted(different)[:9])}")
        _nothing_unfinished(self.place)

    def _is_to_be_continued(self) -> bool:
        """Return False after an import: if its results exist, it is complete and would be refused a second time."""
        return self.subject.name != "import" or not (self.place / "out").exists()


def _of_session(session: int) -> list[int]:
    """Return the live processes of a session."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] not in "ZX":
                    processes.append(int(entry.name))
    return processes


def kill_all(names: Iterable[str], kills: int, seed: int, folder: Path, say: Callable[[str], None]) -> Tally:
    """Kill commands `kills` times in all, the least killed one first; return the number of kills.

    Raises:
        LossError: Results were lost or changed, something stayed behind, or a command always ends before its kill.
    """
    names = list(names)
    tally = Tally(by_subject=dict.fromkeys(names, 0))
    late = dict.fromkeys(names, 0)
    with contextlib.ExitStack() as stack:
        victims = []
        for name in names:
            (folder / name).mkdir()
            victims.append(SUBJECTS[name].victim(folder / name, random.Random(f"{seed} {name}")))
            stack.callback(victims[-1].close)
        while tally.in_time < kills:
            # Choose the command with the fewest kills: how often one ends before its kill depends on the machine.
            victim = min(victims, key=lambda one_victim: tally.by_subject[one_victim.subject.name])
            name = victim.subject.name
            in_time = victim.kill()
            late[name] = 0 if in_time else late[name] + 1
            if late[name] > MOST_LATE:
                raise LossError(f"{name}: {late[name]} kills in a row came after its end")
            tally.kills += 1
            tally.in_time += in_time
            tally.by_subject[name] += in_time
            remark = f"{victim.remark}{'' if in_time else ' had ended before'}"
            say(f"kill {tally.in_time} of {kills}: {name}{remark}")
        for victim in victims:
            victim.finish()
    return tally


def main() -> int:
    """Run the kills of the command line."""
    parser = argparse.ArgumentParser(description="Kills dumbbell.", allow_abbrev=False)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}; default: all")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    names = options.subjects or list(SUBJECTS)
    print(f"kills: seed {options.seed}, {options.kills} kills: {', '.join(names)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        tally = kill_all(names, options.kills, options.seed, Path(folder), lambda line: print(line, flush=True))
    counts = ", ".join(f"{name} {count}" for name, count in tally.by_subject.items())
    print(f"kills: {tally.in_time} ({counts}), nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
