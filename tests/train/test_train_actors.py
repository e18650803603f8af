"""Tests of `dumbbell train aurora` and `fair`, which learn by trial.

JAX is for processes of their own: it warns whoever forks beside it, as other tests do.
"""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from dumbbell_gym.export import from_safetensors, to_safetensors
from dumbbell_train.advantages import StepData, advantages
from support.commands.command import PROGRESS, Dumbbell, replace_options

ROOT = Path(__file__).parents[2]
QUICK = ("--networks", "8", "--decisions", "40", "--rate-mbps", "1.2", "--rtt-ms", "100", "--loss", "0")

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="jax is not installed: `make test` does it"
)


@pytest.fixture(scope="module")
def kept_actor(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the actor after 2000 decisions on one CPU."""
    file = tmp_path_factory.mktemp("kept") / "kept.safetensors"
    command = [Path(sys.executable).with_name("dumbbell"), "train", "aurora", *QUICK, "--steps", "2000", "--jobs", "1"]
    subprocess.run([*command, "--out", file], check=True, capture_output=True)
    return file.read_bytes()


def steps_of(file: Path) -> int:
    """Return the number of decisions of a file's training."""
    return int(json.loads(from_safetensors(file.read_bytes())[1]["training"])["steps"])


@pytest.mark.slow
def test_a_training_is_the_same_for_any_number_of_jobs(dumbbell: Dumbbell, folder: Path, kept_actor: bytes) -> None:
    dumbbell("train", "aurora", *QUICK, "--steps", "2000", "--jobs", "2", "--out", "two.safetensors")
    assert (folder / "two.safetensors").read_bytes() == kept_actor


@pytest.mark.slow
def test_a_training_goes_on_where_it_ended(dumbbell: Dumbbell, folder: Path, kept_actor: bytes) -> None:
    file = folder / "one.safetensors"
    file.write_bytes(kept_actor)
    assert 2000 <= steps_of(file) < 2600
    dumbbell("train", "aurora", *QUICK, "--steps", "3000", "--resume", "--out", file)
    assert 3000 <= steps_of(file) < 3600
    before, now = (from_safetensors(content)[0] for content in (kept_actor, file.read_bytes()))
    # The scales of the observations have counted on from their old values.
    assert now["memory.scale.0"][0] > before["memory.scale.0"][0] + 800
    assert not np.array_equal(before["2.kernel"], now["2.kernel"])


@pytest.mark.slow
def test_what_is_rewarded_is_learned(dumbbell: Dumbbell) -> None:
    # A fuller link is worth more than its short queue costs, so the rate grows from a tenth of the link's. All of 6
    # Mbit/s without a queue is worth 5.0 - 0.1, a tenth of it 0.4; the first 500 decisions get 0.39.
    link = ("--rate-mbps", "6", "--queue-packets", "20", "--start-share", "0.1")
    errors = dumbbell(
        "train", "aurora", *replace_options(QUICK, *link), "--seed", "3", "--steps", "20000", "--out", "a.safetensors"
    ).stderr
    assert 0.7 < float(errors.split()[-1]) < 4.9


@pytest.mark.slow
def test_what_was_learned_runs_as_schemes(dumbbell: Dumbbell, folder: Path, kept_actor: bytes) -> None:
    (folder / "aurora.safetensors").write_bytes(kept_actor)
    quick = ("--networks", "4", "--steps", "2000", "--flows", "2", "--seconds", "3", "--joins-s", "1")
    dumbbell("train", "fair", *quick, "--out", "fair.safetensors")
    words = ("--rate", "12mbit", "--rtt", "60ms", "--duration", "3")
    options = ("--set", "aurora.weights=aurora.safetensors", "--set", "neural.weights=fair.safetensors")
    dumbbell("run", "--schemes", "aurora,neural", *options, *words, "--out", "out")
    runs = json.loads(dumbbell("show", "out", "--json").stdout)["runs"]
    assert [run["scheme"] for run in runs] == ["aurora", "neural"]
    assert all(run["flows"][0]["throughput_mbps"] > 0.01 for run in runs)


REFUSALS = """
import contextlib, io, json, sys
from dumbbell.cli.main import main
for words in json.load(sys.stdin):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, said.getvalue()]))
"""
"""Program of one Python for many commands: to import JAX takes longer than to refuse them."""


def refusals(folder: Path, commands: Iterable[Iterable[str]]) -> list[str]:
    """Return the errors of impossible trainings, each in one line."""
    words = json.dumps([["train", "aurora", *replace_options(QUICK, *command)] for command in commands])
    python = [sys.executable, "-P", "-c", REFUSALS]
    result = subprocess.run(python, input=words, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = []
    for status, text in map(json.loads, result.stdout.splitlines()):
        lines.append((status, "".join(line for line in text.splitlines(True) if not PROGRESS.search(line))))
    assert [(status, text.count("\n")) for status, text in lines] == [(2, 1)] * len(lines), lines
    return [text for _, text in lines]


WRONG = [
    (("--steps", "0"), "`0`: allowed is a whole number from 1 to 1e9, like 4000000 or 4e6"),
    (("--steps", "1.5"), "allowed is a whole number"),
    (("--queue-packets", "0,3"), "allowed is a range like 10,100"),
    (("--loss", "2"), "loss"),
    (("--resume", "--seed", "2"), "kept.safetensors: it was trained with another seed or settings"),
    (("--resume", "--out", "cut.safetensors"), "cut.safetensors: allowed is a file of this trainer"),
    (("--resume", "--out", "other.safetensors"), "other.safetensors: allowed is a file of this trainer"),
    (("--resume", "--out", "deep.safetensors"), "deep.safetensors: allowed is a file of this trainer"),
]


def test_what_cannot_be_is_refused_in_one_line(folder: Path, kept_actor: bytes) -> None:
    (folder / "kept.safetensors").write_bytes(kept_actor)
    (folder / "cut.safetensors").write_bytes(kept_actor[:-100])
    (folder / "other.safetensors").write_bytes(kept_actor.replace(b'"training"', b'"trailing"'))
    (folder / "deep.safetensors").write_bytes((200_000).to_bytes(8, "little") + b"[" * 200_000)
    before = {file: file.read_bytes() for file in folder.iterdir()}
    out = {True: ("--out", "kept.safetensors"), False: ("--out", "new")}
    commands = [(*words, *(() if "--out" in words else out["--resume" in words])) for words, _ in WRONG]
    for refusal, (words, complaint) in zip(refusals(folder, commands), WRONG, strict=True):
        assert complaint in refusal, words
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


SHAPES = [
    ("memory.scale.0", np.zeros(0)),
    ("memory.scale.0", np.zeros(5)),
    ("memory.scale.1", np.float32(1.0)),
    ("memory.scale.2", np.full(3, -1.0)),
    ("memory.0", np.zeros((3, 3))),
    ("steps", 1e300),
    ("steps", "many"),
]


@pytest.mark.slow
def test_a_training_whose_memory_has_another_shape_is_no_file_of_this_trainer(folder: Path, kept_actor: bytes) -> None:
    files = [f"bad{number}.safetensors" for number in range(len(SHAPES))]
    for file, (name, values) in zip(files, SHAPES, strict=True):
        tensors, metadata = from_safetensors(kept_actor)
        if name in tensors:
            tensors[name] = np.asarray(values)
        else:
            metadata["training"] = json.dumps(json.loads(metadata["training"]) | {name: values})
        (folder / file).write_bytes(to_safetensors(tensors, metadata))
    lines = refusals(folder, [("--steps", "2000", "--jobs", "1", "--resume", "--out", file) for file in files])
    assert lines == [f"dumbbell: {file}: allowed is a file of this trainer\n" for file in files]


@pytest.mark.parametrize("offsets", [[0, 8], [4, 12], [8, 12], [8, 4_000_000], [-8, 0], [8, 8]])
def test_tensors_that_lie_in_each_other_are_no_file_of_tensors(offsets: list[int]) -> None:
    """Two megabytes of zeros became 700 tensors of two megabytes each."""
    header = {
        name: {"dtype": "F32", "shape": [2], "data_offsets": offsets_of}
        for name, offsets_of in (("a", [0, 8]), ("b", offsets))
    }
    text = json.dumps(header | {"__metadata__": {}}).encode()
    with pytest.raises(ValueError, match="`b`: is not where the tensor before it ends"):
        from_safetensors(len(text).to_bytes(8, "little") + text + bytes(16))


@pytest.mark.slow
def test_the_example_trains_and_runs_a_policy(tmp_path: Path) -> None:
    example = ROOT / "examples" / "gym" / "ppo.py"
    result = subprocess.run([sys.executable, example, "3000"], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].endswith("of 12 Mbit/s")


def test_without_jax_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError('jax')")
    code = (
        "import sys; from dumbbell.cli.main import main; sys.exit(main(['train', 'aurora', '--out', 'a.safetensors']))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}
    )
    assert result.returncode == 2
    assert "needs gymnasium, jax and optax: pip install 'dumbbell[train]'" in result.stderr
    assert "Traceback" not in result.stderr


def by_hand(row: dict[str, np.ndarray], last: float, gamma: float, lambda_: float) -> np.ndarray:
    """Return the advantages by their definition: of each decision, the sum over the later ones of its episode."""
    count = len(row["value"])
    due = [step for step in range(count) if row["counts"][step]]
    gaps, ends = {}, {}
    for step in due:
        rewards, place, following = row["reward"][step], step + 1, None
        while following is None:
            if place == count:
                following, ends[step] = last, None
            elif row["fresh"][place]:
                following, ends[step] = 0.0 if row["terminated"][place] else row["value"][place], None
            elif row["counts"][place]:
                following, ends[step] = row["value"][place], place
            else:
                rewards, place = rewards + row["reward"][place], place + 1
        gaps[step] = rewards + gamma * following - row["value"][step]
    advantages_found = np.zeros(count)
    for step in due:
        weight, at = 1.0, step
        while at is not None:
            advantages_found[step] += weight * gaps[at]
            weight, at = weight * gamma * lambda_, ends[at]
    return advantages_found


@pytest.mark.parametrize("seed", range(5))
def test_advantages_are_what_their_definition_says(seed: int) -> None:
    draws = np.random.default_rng(seed)
    steps, rows = 40, 7
    fresh = draws.random((steps, rows)) < 0.1
    counts = (draws.random((steps, rows)) < 0.6) & ~fresh
    value, reward = draws.normal(size=(2, steps, rows)).astype(np.float32)
    reward[fresh] = 0.0
    is_terminated = fresh & (draws.random((steps, rows)) < 0.5)
    last = draws.normal(size=rows).astype(np.float32)
    zeros = np.zeros(rows, np.float32)
    step_data = [
        StepData(zeros, zeros, zeros, zeros, value[t], counts[t], fresh[t], reward[t], is_terminated[t])
        for t in range(steps)
    ]
    better, target = advantages(step_data, last, 0.9, 0.8)
    for row in range(rows):
        names = {"value": value, "reward": reward, "counts": counts, "fresh": fresh, "terminated": is_terminated}
        expected = by_hand({name: array[:, row] for name, array in names.items()}, float(last[row]), 0.9, 0.8)
        np.testing.assert_allclose(better[:, row], expected, atol=1e-4)
        np.testing.assert_allclose(target[:, row], np.where(counts[:, row], expected + value[:, row], 0.0), atol=1e-4)
