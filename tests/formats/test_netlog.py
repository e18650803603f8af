"""Tests of imports of Chrome's network logs: whole, cut, as one value, without QUIC, and damaged."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell, show
from support.inputs.netlogs import COUNT, RTT_MS, TYPES, netlog, netlog_events


def only_run(dumbbell: Dumbbell, folder: Path, text: str) -> dict[str, Any]:
    (folder / "n.json").write_text(text)
    dumbbell("import", "netlog", "n.json", "--out", "out")
    (run,) = show(dumbbell, "out")["runs"]
    made_run: dict[str, Any] = run
    return made_run


def as_one_value() -> str:
    """Return the log as other programs rewrite it."""
    return json.dumps({"events": netlog_events(), "constants": {"logEventTypes": TYPES, "timeTickOffset": 1}}, indent=1)


@pytest.mark.parametrize("text", [netlog(), as_one_value()])
def test_what_a_session_sent_and_what_was_lost_of_it(dumbbell: Dumbbell, folder: Path, text: str) -> None:
    run = only_run(dumbbell, folder, text)
    (flow,) = run["flows"]
    # The packet that sets up the connection has its own number space and is no data packet; nor is a packet with an ACK
    # alone.
    assert (flow["packets_sent"], flow["packets_delivered"]) == (COUNT, COUNT - 1)
    assert flow["packet_loss_rate"] == pytest.approx(1 / COUNT)
    # 99 packets of 900 bytes arrive until the ACK sent at 1080 ms.
    assert flow["goodput_mbps"] == pytest.approx(99 * 900 * 8e-3 / 1080)
    assert flow["rtt_min_ms"] == pytest.approx(RTT_MS)
    assert flow["rtt_p95_ms"] == pytest.approx(RTT_MS)
    assert any("example.org" in note and "1 declared lost" in note for note in run["notes"])
    assert any("left out: one QUIC session that sent little" in note for note in run["notes"])
    if text == netlog():
        assert run["imported"]["started"] == "2023-11-14 22:13:20"


def test_a_log_that_ends_in_the_middle_of_an_event_counts_up_to_there(dumbbell: Dumbbell, folder: Path) -> None:
    lines = netlog().splitlines(keepends=True)
    run = only_run(dumbbell, folder, "".join(lines[:200]) + lines[200][:60])
    assert 30 < run["flows"][0]["packets_delivered"] < COUNT


def without(*words: str) -> str:
    lines = netlog().splitlines(keepends=True)
    types = {TYPES[word] for word in words}
    return "".join(
        [
            *lines[:2],
            *(line for line in lines[2:] if not any(f'"type": {event_type}}}' in line for event_type in types)),
        ]
    )


def test_a_log_without_acknowledgements_does_not_tell_what_arrived(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, without("QUIC_SESSION_ACK_FRAME_RECEIVED", "QUIC_SESSION_PACKET_LOST"))
    (flow,) = run["flows"]
    assert (flow["packets_sent"], flow["packets_delivered"], flow["packet_loss_rate"]) == (COUNT, None, None)
    assert any("no acknowledged packets" in note for note in run["notes"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "bad.json: is empty"),
        ("{", "bad.json:1: not valid JSON"),
        ("{}", "bad.json: is no log of Chrome's: needed are the keys constants and events"),
        (without("QUIC_SESSION_PACKET_SENT"), "bad.json: there is no QUIC session in it: nothing to import"),
        ("".join(netlog().splitlines(keepends=True)[:9]), "none of which sent 10 packets or more"),
        (netlog().replace('"timeTickOffset"', '"offset"'), "bad.json: is not what Chrome writes: 'timeTickOffset'"),
        (netlog().replace('"packet_number": 1,', '"packet_number": "x",'), "bad.json: is not what Chrome writes"),
        (netlog().replace('"size": 1000', '"size": -1'), "bad.json: is not what Chrome writes: packet 1 of -1 bytes"),
        (netlog().replace('"time": "500"', '"time": "-1"'), "bad.json: is not what Chrome writes: time -1 ms"),
    ],
)
def test_a_bad_log_is_one_line(dumbbell: Dumbbell, folder: Path, text: str, complaint: str) -> None:
    (folder / "bad.json").write_text(text)
    result = dumbbell("import", "netlog", "bad.json", "--out", "x", expect=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()
