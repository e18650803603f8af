"""Tests of Pantheon's names of schemes: the key, the pinned commit and the test's date select the simulated scheme."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_pantheon_import import logs_of, write

import dumbbell as library
from dumbbell import catalog
from dumbbell.catalog.outside.pantheon_names import Counterpart, counterpart, known_keys
from dumbbell.formats.staging import _styles
from dumbbell.results.analysis.counterparts import matched
from dumbbell_calibrate.target import TargetOptions, read_target
from support.commands.command import Dumbbell
from support.inputs.pantheon_folder import METADATA

FILLP_1 = "third_party/fillp @ ec9585325218d5048c4d4152fa42240af54c6e67"
FILLP_2 = "third_party/fillp @ d6da1459332fcee56963885d7eba17e6a32d4519"
_MAIN = ("network", "throughput_mbps")
COPA_2017 = "third_party/genericCC @ 80b516c448f795fd6e9675f7177b69c622f07da8"


@pytest.mark.parametrize(
    ("key", "git", "date", "scheme"),
    [
        ("scream", "", None, "scream-pantheon"),
        ("taova", "", None, "tao-100x"),
        ("quic", "", None, "gquic-cubic"),
        ("ledbat", "", None, "libutp-ledbat"),
        ("default_tcp", "", None, "cubic"),
        ("pcc_experimental", "", None, "pcc-experimental"),
        ("copa", "", None, "copa-gcc2018"),
        ("copa", "", "2018-01-18 04:05:06", "copa-gcc2017"),
        ("copa", "", "2018-09-03 04:05:06", "copa-gcc2018"),
        ("copa", COPA_2017, "2020-01-01 00:00:00", "copa-gcc2017"),
        ("fillp", "", None, "fillp2"),
        ("fillp", "", "2018-01-18 04:05:06", "fillp"),
        ("fillp", f"branch: master @ 0123\n{FILLP_1}\n M x", "2022-01-01 00:00:00", "fillp"),
        ("fillp", f"branch: master @ 0123\n {FILLP_2}\n", "2018-01-18 04:05:06", "fillp2"),
        ("fillp", FILLP_1[:30], None, "fillp"),
    ],
)
def test_a_name_of_pantheon_is_the_program_of_that_commit_or_day(
    key: str, git: str, date: str | None, scheme: str
) -> None:
    match = counterpart(key, git, date)
    assert match is not None
    assert match.scheme == scheme


def test_the_table_names_schemes_that_exist_and_all_that_pantheon_drew() -> None:
    names = known_keys()
    assert set(_styles()) <= set(names)
    for name in names.values():
        for entry in (name.last, *(epoch.counterpart for epoch in name.earlier)):
            assert (entry.scheme is None) <= bool(entry.note)
            assert entry.scheme is None or catalog.schemes().find(entry.scheme).kind == "core"
        assert bool(name.earlier) == bool(name.submodule)
    assert counterpart("own", "", None) is None


def test_a_scheme_of_pantheon_is_compared_with_what_simulates_it() -> None:
    counterparts = {
        "scream": Counterpart("scream-pantheon"),
        "cubic": Counterpart("cubic"),
        "copa": Counterpart("copa-gcc2018"),
    }
    measured_names, simulated_names = (
        (counterparts.keys(), counterparts),
        (["scream", "scream-pantheon", "cubic", "copa"], {}),
    )
    left, right = matched(measured_names, simulated_names)
    assert left == {"scream": "scream | scream-pantheon", "copa": "copa (Pantheon)"}
    assert right == {"scream-pantheon": "scream | scream-pantheon"}
    right, left = matched(simulated_names, measured_names)
    assert left["scream"] == right["scream-pantheon"] == "scream-pantheon | scream"
    assert matched(measured_names, measured_names) == matched(simulated_names, simulated_names) == ({}, {})


def import_made(dumbbell: Dumbbell, folder: Path, **metadata: Any) -> Path:  # noqa: ANN401 (any JSON)
    """Import a test of three schemes into `out`."""
    keys = ["scream", "fillp", "cubic"]
    logs = {name: log for key in keys for name, log in logs_of(key).items()}
    write(folder / "data", METADATA | {"cc_schemes": keys} | metadata, logs)
    dumbbell("import", "pantheon", folder / "data", "--out", "out")
    return folder / "out"


def test_scream_of_pantheon_is_not_simulated_by_version_2(dumbbell: Dumbbell, folder: Path) -> None:
    out = import_made(dumbbell, folder, git_summary=f"branch: master @ 0123\n{FILLP_1}\n")
    scheme_names = {key: twin.scheme for key, twin in library.open(out).counterparts.items()}
    assert scheme_names == {"scream": "scream-pantheon", "fillp": "fillp", "cubic": "cubic"}
    assert set(read_target(str(out), TargetOptions()).schemes) == {"scream-pantheon", "fillp", "cubic"}
    assert "scream: scream-pantheon" in dumbbell("show", "out").stdout
    dumbbell("run", "--schemes", "scream,scream-pantheon", "--path", "small.toml", "--duration", "1", "--out", "ours")
    result = dumbbell("diff", "out", "ours", "--json")
    rows = {row["scheme"]: row for row in json.loads(result.stdout)["rows"] if (row["entity"], row["metric"]) == _MAIN}
    assert rows["scream | scream-pantheon"]["difference"] is not None
    assert rows["scream"]["verdict"] == "only in B"


def test_names_in_our_own_exports_are_ours(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "scream,copa", "--path", "small.toml", "--duration", "2", "--out", "ours")
    dumbbell("export", "pantheon", "ours", "--out", "exported")
    dumbbell("import", "pantheon", "exported", "--out", "out")
    assert library.open(folder / "out").counterparts == {}
