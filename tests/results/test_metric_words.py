"""The names of metrics in words."""

import json

import pytest

from dumbbell import _core
from dumbbell.results.analysis.metric_words import metric_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("owd_p95_ms", "one-way delay, 95th percentile"),
        ("self_inflicted_delay_mean_ms", "self-inflicted delay, mean"),
        ("mean_throughput_l4", "mean throughput, transport"),
        ("packets_sent", "packets sent"),
        ("media.frame_delay_p50_ms", "frame delay, median"),
        ("acklink.loss_rate", "return direction: loss rate"),
        ("time_to_90_s", "time to 90 % of the fair share"),
        ("mean_one_way_delay_l7", "mean one-way delay, application"),
    ],
)
def test_words(name: str, words: str) -> None:
    assert metric_words(name) == words


def test_every_metric_of_a_level_has_words_of_its_own() -> None:
    names: dict[tuple[str, str, str], str] = {}
    for metric in json.loads(_core.metrics()):
        words = metric_words(metric["name"])
        assert "_" not in words
        key = (metric["level"], words, metric["unit"])
        assert names.setdefault(key, metric["name"]) == metric["name"], key
