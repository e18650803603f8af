"""Tests of common random draws: every scheme has the draws of a path, and differences are tested in pairs of runs."""

import json
from pathlib import Path

import polars as pl

from support.by_hand.run import DROP, SEND
from support.commands.command import Dumbbell

LOSSY = """
name = "lossy"
title = "losses at random, nothing waits"

[[data]]
kind = "link"
rate_mbps = 1000.0

[[data]]
kind = "loss"
probability = 0.02

[[data]]
kind = "jitter"
distribution = "exponential"
mean_ms = 3.0

[[ack]]
kind = "delay"
delay_ms = 10.0
"""
CELLULAR = ("--path", "cellular-att-lte-down", "--duration", "5")


def fates(folder: Path, out: str, scheme: str, run: int) -> list[bool]:
    """Return True for each lost packet, in the order of sending."""
    log = pl.read_parquet(folder / out / f"runs/lossy/{scheme}/{run}/packets.parquet")
    events = log.filter(pl.col("event").is_in([SEND, DROP])).select("event", "seq").rows()
    lost_seqs = {seq for event, seq in events if event == DROP}
    return [seq in lost_seqs for event, seq in events if event == SEND]


def test_every_scheme_loses_the_same_packets_of_a_path(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "lossy.toml").write_text(LOSSY)
    words = ("--path", "lossy.toml", "--duration", "2", "--runs", "2")
    dumbbell("run", "--schemes", "cubic,bbr,fillp", *words, "--out", "out")
    for run in (1, 2):
        fates_by_scheme = [fates(folder, "out", scheme, run) for scheme in ("cubic", "bbr", "fillp")]
        least = min(len(fate) for fate in fates_by_scheme)
        assert least > 400
        assert sum(fates_by_scheme[0][:least]) > 3
        assert fates_by_scheme[0][:least] == fates_by_scheme[1][:least] == fates_by_scheme[2][:least]
    assert fates(folder, "out", "cubic", 1)[:400] != fates(folder, "out", "cubic", 2)[:400]


def test_schemes_of_two_directories_are_compared_in_pairs(dumbbell: Dumbbell) -> None:
    for scheme in ("copa", "vegas"):
        dumbbell("run", "--schemes", scheme, *CELLULAR, "--runs", "5", "--set", "log=none", "--out", scheme)
    rows = json.loads(dumbbell("diff", "copa", "vegas", "--json").stdout)["rows"]
    assert {row["scheme"] for row in rows} == {"copa | vegas"}
    assert all(row["paired"] for row in rows)
    assert {row["metric"] for row in rows} >= {"goodput_mbps", "owd_p95_ms"}


def test_several_schemes_are_compared_by_their_names(dumbbell: Dumbbell) -> None:
    dumbbell("run", "--schemes", "copa,reno", *CELLULAR, "--runs", "1", "--out", "both")
    dumbbell("run", "--schemes", "copa", *CELLULAR, "--runs", "1", "--out", "one")
    rows = json.loads(dumbbell("diff", "both", "one", "--json").stdout)["rows"]
    assert {(row["scheme"], row["verdict"]) for row in rows if row["metric"] == "goodput_mbps"} >= {
        ("copa", "equal"),
        ("reno", "only in A"),
    }
