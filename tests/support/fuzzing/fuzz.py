"""Fuzzing with mutations of valid inputs: each is accepted, or refused in one line, in bounded time and memory.

`make fuzz` runs this for ten minutes. The seed, the target and i determine input number i of a target. The input of a
finding is kept in a file, with the command that gives it to dumbbell again.
"""

import argparse
import contextlib
import faulthandler
import hashlib
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dumbbell
from support.fuzzing.mutation import mutate
from support.fuzzing.targets import TARGETS, Target

BATCH = 100
"""Number of inputs of a process."""

CPU_S, WAIT_S = 10.0, 90.0
"""Maximum CPU time of one input, and its maximum time by the clock of a busy machine, s."""

MEMORY_BYTES = 3 << 29
"""Maximum memory of a process beyond its initial memory, bytes."""

LONGEST_LINE = 4000


@dataclass(frozen=True)
class Finding:
    """An input that was neither accepted nor refused as it should be."""

    target: str
    number: int
    content: bytes
    complaint: str


def inputs(target: Target, valid: list[bytes], seed: int, first: int, count: int) -> Iterator[tuple[int, bytes]]:
    """Yield inputs of a target, by number. The first ones are the unchanged valid inputs."""
    for number in range(first, first + count):
        if number < len(valid):
            yield number, valid[number]
        else:
            yield number, mutate(valid, random.Random(f"{seed} {target.name} {number}"))


def objection(target: Target, content: bytes, folder: Path) -> str | None:
    """Return the complaint about how dumbbell handles one input, or None; `folder` is empty."""
    is_refused = False
    os.chdir(folder)
    try:
        target.give(content, folder)
    except dumbbell.Error as error:
        is_refused, line = True, str(error)
        if not line.strip() or not line.isprintable() or len(line) > LONGEST_LINE:
            return f"refused, but not in one line that can be printed: {line[:300]!r}"
    except SystemExit as end:  # --help
        if end.code:
            return f"ended with {end.code}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of the core is no Exception
        return traceback.format_exc()
    left = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("given"))
    if left not in ([], ["out"]) or (is_refused and left):
        return f"left behind: {left}"
    return None


def _child(target: Target, batch: list[tuple[int, bytes]], folder: Path, pipe: int) -> None:
    """Give inputs to dumbbell; write each one's number before it, and the complaint after it."""
    faulthandler.disable()  # what pytest would print of a process that dies
    silence = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(silence, standard)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for number, content in batch:
        os.write(pipe, f"{number}\n".encode())
        place = folder / str(number)
        place.mkdir()
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        complaint = objection(target, content, place)
        if complaint is not None:
            os.write(pipe, f"{json.dumps(complaint[-3000:])}\n".encode())
        os.chdir(folder)
        shutil.rmtree(place, ignore_errors=True)


def _read_lines(pipe: int) -> Iterator[str]:
    """Yield lines from a child until it ends.

    Raises:
        TimeoutError: The child writes nothing any more.
    """
    rest = b""
    while True:
        if not select.select([pipe], [], [], WAIT_S)[0]:
            raise TimeoutError
        more = os.read(pipe, 1 << 16)
        if not more:
            return
        *lines, rest = (rest + more).split(b"\n")
        yield from (line.decode() for line in lines)


def run_batch(target: Target, batch: list[tuple[int, bytes]]) -> Iterator[Finding]:
    """Give inputs to dumbbell in a process; a new process gets the inputs after one that ended it."""
    while batch:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    os.close(reading)
                    _child(target, batch, Path(folder), writing)
                    status = 0
                finally:
                    os._exit(status)
            os.close(writing)
            current, is_stuck = batch[0][0], False
            contents = dict(batch)
            try:
                for line in _read_lines(reading):
                    if line.startswith('"'):
                        yield Finding(target.name, current, contents[current], json.loads(line))
                    else:
                        current = int(line)
            except TimeoutError:
                is_stuck = True
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                os.close(reading)
        if exit_code == 0 or (exit_code == -signal.SIGKILL and not is_stuck and current == batch[-1][0]):
            return
        reason = f"more than {WAIT_S:g} s" if is_stuck else _death(exit_code)
        yield Finding(target.name, current, contents[current], reason)
        batch = [item for item in batch if item[0] > current]


def _death(status: int) -> str:
    if status == -signal.SIGPROF:
        return f"more than {CPU_S:g} s of the processor"
    return f"the process died: {signal.Signals(-status).name if status < 0 else status}"


def fuzz(
    targets: list[Target],
    seed: int,
    enough: Callable[[int], bool],
    part: tuple[int, int] = (0, 1),
    batch: int = BATCH,
) -> tuple[int, list[Finding]]:
    """Fuzz targets in turn until `enough` of the inputs of each are done; return their number and the findings.

    `part` is (i, n) for the i-th of n processes that share the work.
    """
    total, findings = 0, []
    with tempfile.TemporaryDirectory(prefix="fuzz-valid-") as folder:
        valid = {target.name: target.valid(Path(folder)) for target in targets}
    place, parts = part
    rounds = 0
    while not enough(rounds * batch * parts):
        for target in targets:
            first = (rounds * parts + place) * batch
            for finding in run_batch(target, list(inputs(target, valid[target.name], seed, first, batch))):
                findings.append(finding)
                print(describe(finding, Path("fuzz-findings")), flush=True)
            total += batch
        rounds += 1
    return total, findings


def describe(finding: Finding, folder: Path) -> str:
    """Keep the input of a finding in a file; return its description."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{finding.target}-{hashlib.sha256(finding.content).hexdigest()[:12]}"
    file.write_bytes(finding.content)
    last = finding.complaint.strip().splitlines()[-1]
    again = f"PYTHONPATH=tests {sys.executable} -m support.fuzzing.fuzz --again {finding.target} {file}"
    return f"FOUND {finding.target} {finding.number}: {last[:300]}\n  again: {again}"


def main() -> int:
    """Run the fuzzing of the command line."""
    parser = argparse.ArgumentParser(description="Fuzzes what dumbbell reads.", allow_abbrev=False)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "FILE"), help="gives dumbbell one input once more")
    options = parser.parse_args()
    if options.again:
        name, file = options.again
        findings = list(run_batch(TARGETS[name], [(0, Path(file).read_bytes())]))
        print(findings[0].complaint if findings else "nothing is wrong with this one")
        return len(findings)
    targets = [TARGETS[name] for name in options.targets or TARGETS]
    end = time.monotonic() + options.seconds
    names = ", ".join(target.name for target in targets)
    print(f"fuzz: seed {options.seed}, {options.seconds:g} s, {options.jobs} processes: {names}")
    sys.stdout.flush()
    children = []
    for place in range(options.jobs):
        child = os.fork()
        if child == 0:
            status = 2
            try:
                input_count, findings = fuzz(
                    targets, options.seed, lambda _: time.monotonic() >= end, (place, options.jobs)
                )
                print(f"fuzz: {input_count} inputs, {len(findings)} findings", flush=True)
                status = 1 if findings else 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


if __name__ == "__main__":
    sys.exit(main())
