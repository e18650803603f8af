"""Tests of `dumbbell train`: learned, kept, continued and refused trainings."""

import hashlib
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

import dumbbell
import dumbbell_train
from dumbbell.results.files import only_writer
from support.commands.command import COMMAND, Dumbbell
from support.waiting import TIMEOUT_S, wait_for

QUICK = ("--networks", "2", "--packets", "1000", "--rules", "20", "--link-mbps", "10,20", "--on-ms", "500")
WEIGHTS = Path(dumbbell.__file__).parent / "catalog" / "weights" / "tao"


def test_a_training_is_the_same_for_any_number_of_jobs_and_can_be_resumed(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("train", "remy", *QUICK, "--epochs", "2", "--jobs", "1", "--out", "one.json")
    result = dumbbell("train", "remy", *QUICK, "--epochs", "2", "--jobs", "2", "--out", "two.json")
    assert result.stdout == "two.json\n"
    assert "objective" in result.stderr
    dumbbell("train", "remy", *QUICK, "--epochs", "1", "--out", "three.json")
    dumbbell("train", "remy", *QUICK, "--epochs", "2", "--resume", "--out", "three.json")
    texts = {name: (folder / f"{name}.json").read_bytes() for name in ("one", "two", "three")}
    assert texts["one"] == texts["two"] == texts["three"]
    assert json.loads(texts["one"])["training"]["epoch"] == 2


def test_what_was_learned_runs_as_a_scheme(dumbbell: Dumbbell) -> None:
    dumbbell("train", "remy", *QUICK, "--epochs", "1", "--out", "mine.json")
    words = ("--rate", "15mbit", "--rtt", "150ms", "--duration", "3", "--out", "out")
    dumbbell("run", "--schemes", "tao", "--set", "tao.table=mine.json", *words)
    runs = json.loads(dumbbell("show", "out", "--json").stdout)["runs"]
    assert runs[0]["flows"][0]["throughput_mbps"] > 1.0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("rembrandt",), "rembrandt"),
        (("indigo", "--rates-mbps", "5,-1"), "allowed are numbers above 0 like 5,10,20"),
        (("indigo", "--paths", "nowhere"), "unknown path `nowhere`"),
        (("muses", "--units", "7"), "units = 7: allowed are 32, 64, 96, 128"),
        (("remy", "--link-mbps", "20,10"), "allowed is a range like 10,100"),
        (("remy", "--senders", "2,1"), "allowed is a range like 1,2"),
        (("remy", "--packets", "10"), "packets = 10 to 10: allowed is a range within 1000"),
        (("remy", "--minutes", "never"), "allowed is a time like"),
        (("remy", "--resume"), "there is nothing to resume"),
        (("remy", "--out", "no/where.json"), "allowed is a file in a folder that is there"),
        (("remy", "--lnik-mbps", "10"), "did you mean `--link-mbps`?"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    dumbbell: Dumbbell, folder: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    before = set(folder.iterdir())
    errors = dumbbell("train", *arguments, expect=2).stderr
    assert complaint in errors
    assert errors.count("\n") == 1
    assert set(folder.iterdir()) == before


def test_a_file_is_not_replaced_unless_it_is_continued(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "remy.json").write_text("something else")
    assert "exists already: add --resume" in dumbbell("train", "remy", expect=2).stderr
    assert "expected" in dumbbell("train", "remy", "--resume", expect=2).stderr
    assert (folder / "remy.json").read_text() == "something else"


def test_a_second_training_into_the_same_file_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    with only_writer(folder / "remy.json"):
        for more in ((), ("--resume",)):
            assert "remy.json: another dumbbell is writing there" in dumbbell("train", "remy", *more, expect=2).stderr
    assert not [*folder.glob("remy.json"), *folder.glob(".remy*")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_learned(folder: Path, number: signal.Signals) -> None:
    out = folder / "stopped.json"
    words = [*COMMAND, "train", "remy", *QUICK, "--jobs", "1", "--out", str(out)]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as training:
        wait_for(out.exists)
        os.kill(training.pid, number)
        _, communicate = training.communicate(timeout=TIMEOUT_S)
    assert training.returncode == 1
    assert "interrupted" in communicate
    assert "Traceback" not in communicate
    assert json.loads(out.read_bytes())["training"]["epoch"] >= 1


def test_a_table_of_a_file_that_is_none_is_refused_in_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    content = (WEIGHTS / "tao-10x.json").read_text()
    rules = json.loads(content)["rules"]
    texts = {
        "cut": (content[: len(content) // 2], "EOF"),
        "hole": (json.dumps({"format": "dumbbell remy 1", "rules": rules[1:]}), "no rule for signals from"),
        "number": (content.replace('"intersend_ms":', '"intersend_ms":-', 1), "intersend_ms = -"),
        "other": ("no table at all", "allowed are tables of `dumbbell train remy` and Remy's .dna files"),
    }
    for name, (text, complaint) in texts.items():
        (folder / f"{name}.json").write_text(text)
        words = ("--path", "california-mexico", "--duration", "1", "--set", f"tao.table={name}.json")
        errors = dumbbell("run", "--schemes", "tao", *words, "--out", "refused", expect=2).stderr
        assert complaint in errors, name
        assert f"{name}.json" in errors
    assert not (folder / "refused").exists()


def test_a_scheme_without_its_file_is_left_out_of_all() -> None:
    rows = {row["name"]: row for row in dumbbell.listing("schemes")}
    assert rows["tao-100x"]["missing"] is None
    assert "--set tao.table=FILE" in rows["tao"]["missing"]
    assert {"tao", "tao-gcc2017", "tao-10x"} <= set(rows)


def test_the_library_trains_as_the_command_does(tmp_path: Path) -> None:
    assert {"indigo", "muses", "remy"} <= {trainer.name for trainer in dumbbell_train.trainers()}
    settings = {"networks": 2, "packets": 1000, "rules": 20, "link_mbps": (10.0, 20.0), "epochs": 1}
    train_controller = dumbbell_train.train_controller("remy", out=tmp_path / "mine.json", jobs=1, **settings)
    assert (train_controller.file, train_controller.interrupted) == (tmp_path / "mine.json", False)
    with pytest.raises(dumbbell.Error, match="unknown setting `pakcets`"):
        dumbbell_train.train_controller("remy", out=tmp_path / "other.json", pakcets=3)
    with pytest.raises(dumbbell.Error, match="networks: `0`: allowed is a whole number"):
        dumbbell_train.train_controller("remy", out=tmp_path / "other.json", networks="0")


@pytest.mark.parametrize("name", ["tao-10x", "tao-100x"])
def test_the_card_of_a_shipped_table_is_of_this_table(name: str) -> None:
    content = (WEIGHTS / f"{name}.json").read_bytes()
    card = (WEIGHTS / f"{name}.md").read_text()
    assert hashlib.sha256(content).hexdigest() in card
    assert f"{json.loads(content)['training']['epoch']} epochs" in card
