"""Paths in a person's words."""

from typing import Any

import pytest

from dumbbell import catalog
from dumbbell.catalog.path import PathModel
from dumbbell.present.model.words.path_words import path_words

BACK = [{"kind": "delay", "delay_ms": 10.0}]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([{"kind": "link", "rate_mbps": 2500.0}], "2.5 Gbit/s, 0 ms there, 10 ms back"),
        (
            [{"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "codel", "packets": 100, "bytes": 15000}}, *BACK],
            "10 Mbit/s, 100-packet 15 kB CoDel, 10 ms each way",
        ),
        (
            [{"kind": "link", "rate_mbps": 10.0, "schedule": [{"at_s": 1.0, "rate_mbps": 5.0}]}, *BACK],
            "10 Mbit/s, changed once in a run, 10 ms each way",
        ),
        (
            [{"kind": "trace", "times_ms": [1, 1, 3]}, {"kind": "duplicate", "probability": 0.1}, *BACK],
            "a trace of 12 Mbit/s on average, duplicate (probability 0.1), 10 ms each way",
        ),
        (
            [{"kind": "policer", "rate_mbps": 5.0, "burst_bytes": 3000}, *BACK],
            "policed to 5 Mbit/s, 10 ms each way",
        ),
        ([{"kind": "loss", "probability": 0.0006}, *BACK], "0.06 % loss, 10 ms each way"),
        (
            [{"kind": "loss", "probability": 1.0, "min_bytes": 1401}, *BACK],
            "loss (probability 1, min_bytes 1401), 10 ms each way",
        ),
        ([{"kind": "loss", "keep_every": 4}, *BACK], "loss (keep_every 4), 10 ms each way"),
        (
            [{"kind": "remark", "codepoint": "ect", "becomes": "not-ect"}, *BACK],
            "remark (codepoint ect, becomes not-ect), 10 ms each way",
        ),
    ],
)
def test_words_of_elements(data: list[dict[str, Any]], expected: str) -> None:
    assert path_words(PathModel(name="p", title="", data=data, ack=BACK)) == expected


def test_words_of_a_shared_channel_and_of_a_changing_mtu() -> None:
    station = {"kind": "half-duplex", "rate_mbps": 60.0, "access_us": 150.0, "turn_packets": 16}
    alone = {"kind": "half-duplex", "rate_mbps": 60.0, "queue": {"kind": "ack-filter", "packets": 9}}
    schedule = ({"at_s": 5.0, "mtu_bytes": 1400},)
    path = PathModel(name="p", title="", data=[station, *BACK], ack=[*BACK, alone], schedule=schedule)
    assert path_words(path) == (
        "turns on a shared channel of 60 Mbit/s, 150 us each, up to 16 packets in one, 10 ms each way, "
        "MTU changed once in a run; "
        "ACKs meet turns on a shared channel of 60 Mbit/s, 9-packet drop-tail with an ACK filter"
    )


def test_every_listed_path_has_words_without_a_table_in_them() -> None:
    for path in catalog.paths():
        words = path_words(path)
        assert " ms each way" in words or " ms there, " in words
        assert not set(words) & set("{}[]"), words
    described_words = path_words(catalog.paths().find("india-aws-india"))
    assert described_words == "100.42 Mbit/s, 173-packet drop-tail, 27 ms each way; ACKs meet 100.42 Mbit/s"
