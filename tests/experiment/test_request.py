"""Tests of requests: their fields are the library's arguments, the command's options, and an experiment's settings."""

from __future__ import annotations

import argparse
import inspect
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import catalog
from dumbbell.base.request_fields import option, options, with_fields_of
from dumbbell.catalog.experiment_settings import READERS
from dumbbell.catalog.options.values import count, names
from dumbbell.catalog.run_request import RunRequest
from dumbbell.cli.options import request_of, request_options
from dumbbell.execution.check import check
from dumbbell.experiment import planned, resolve
from dumbbell.formats.import_request import ImportRequest
from dumbbell.studies.benchmark.request import BenchmarkRequest


def parse_request(kind: type, *words: str) -> Any:  # noqa: ANN401 (a request of this kind)
    parser = argparse.ArgumentParser()
    request_options(parser, kind)
    return request_of(kind, parser.parse_args(words))


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (dumbbell.run, RunRequest),
        (dumbbell.preview, RunRequest),
        (dumbbell.run_benchmark, BenchmarkRequest),
        (dumbbell.preview_benchmark, BenchmarkRequest),
        (dumbbell.import_results, ImportRequest),
    ],
)
def test_arguments_of_the_library_are_the_fields(function: Any, kind: type) -> None:  # noqa: ANN401
    assert list(inspect.signature(function).parameters) == [field.name for field in fields(kind)]
    for name, request_option in options(kind):
        assert f"        {name}: {request_option.means}.\n" in function.__doc__


def test_every_setting_of_a_field_is_one_of_an_experiment() -> None:
    groups = [RunRequest, *(request_option.group for _, request_option in options(RunRequest) if request_option.group)]
    settings = [
        request_option.setting for group in groups for _, request_option in options(group) if request_option.setting
    ]
    assert len(settings) > 15
    assert {*settings} <= {*READERS}


def test_options_make_the_request_that_a_program_writes() -> None:
    words = "--schemes cubic,bbr --mix cubic+bbr --mix reno*2 --runs 3 --duration 500ms --set copa.delta=0.1 --exact"
    other_words = (
        "--cell a,b --for 2h --every 1h --disk-quota 10GB --remote-address 192.0.2.1 --random-order --db-path x.db"
    )
    assert parse_request(RunRequest, *words.split(), *other_words.split()) == RunRequest(
        schemes=("cubic", "bbr"),
        mixes=["cubic+bbr", "reno*2"],
        runs=3,
        duration=0.5,
        settings=["copa.delta=0.1"],
        exact=True,
        cells=("a", "b"),
        campaign=dumbbell.Campaign(every=3600.0, lasts=7200.0),
        budget=dumbbell.Budget(disk_bytes=10 * 10**9),
        remote=dumbbell.Remote(address="192.0.2.1"),
        random_order=True,
        database=Path("x.db"),
    )
    assert parse_request(RunRequest) == RunRequest()
    several = parse_request(
        BenchmarkRequest, "--schemes", "copa", "--experiment", "a.toml,b.toml", "--experiment", "c.toml"
    )
    assert several == BenchmarkRequest(("copa",), experiments=["a.toml", "b.toml", "c.toml"])


def test_a_new_field_is_an_argument_an_option_and_a_line_of_help() -> None:
    @dataclass(frozen=True, kw_only=True)
    class AskRequest:
        least: int = option(1, "fewest of something", count, "N")
        words: tuple[str, ...] = option((), "some words", names, "A,B", word="say")

    @with_fields_of(AskRequest)
    def ask(request: AskRequest) -> AskRequest:
        """Ask.

        Returns:
            The request.
        """
        return request

    assert parse_request(AskRequest, "--least", "3", "--say", "a,b") == ask(least=3, words=("a", "b"))
    assert "        least: fewest of something.\n" in (ask.__doc__ or "")
    with pytest.raises(TypeError, match=r"^ask\(\) got an unexpected keyword argument 'most'$"):
        ask(most=3)  # type: ignore[call-arg]


def test_what_is_chosen_has_the_names_of_settings() -> None:
    request = RunRequest(duration=2.0, campaign=dumbbell.Campaign(every=60.0), backend="emu", exact=True)
    assert request.chosen() == {
        "backend": "emu",
        "duration_s": 2.0,
        "every_s": 60.0,
        "host_jitter_us": 0.0,
        "start_spread_ms": 0.0,
    }


def test_the_specification_of_a_run_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made_seeds = []
    make = planned.specification
    monkeypatch.setattr(planned, "specification", lambda *words: made_seeds.append(words[1]) or make(*words))
    experiment = resolve(catalog.experiments().find("quick"), RunRequest(schemes=("reno", "cubic"), runs=2))
    check(experiment)
    specifications = [experiment.specification(run) for run in experiment.all_runs()]
    assert len(made_seeds) == len(specifications) > 2, (
        "the check made those of the first repetition, and they were used"
    )


def test_an_experiment_carries_its_backend() -> None:
    experiment = resolve(catalog.experiments().find("quick"), RunRequest(backend="remote:far"))
    assert (experiment.backend.name, experiment.backend.argument) == ("remote", "far")
    assert experiment.table()["backend"] == "remote:far"
