"""Text of iperf2 and iperf3 as results: of both ends, of both directions, of UDP, cut short, and damaged."""

import re
from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell, show
from support.inputs.iperf_texts import (
    IPERF2_CSV,
    IPERF2_ENHANCED,
    IPERF2_SERVER,
    IPERF2_UDP,
    IPERF3,
    IPERF3_BOTH_WAYS,
    IPERF3_OLD_UDP,
    IPERF3_OLD_UDP_SERVER,
    IPERF3_REVERSE,
    IPERF3_SERVER,
    IPERF3_UDP,
)


def runs(dumbbell: Dumbbell, folder: Path, text: str) -> list[dict[str, Any]]:
    (folder / "t.txt").write_text(text)
    dumbbell("import", "iperf", "t.txt", "--out", "out")
    imported_runs: list[dict[str, Any]] = show(dumbbell, "out")["runs"]
    return imported_runs


def only_run(dumbbell: Dumbbell, folder: Path, text: str) -> dict[str, Any]:
    (run,) = runs(dumbbell, folder, text)
    return run


def test_numbers_of_iperf3_by_hand(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, IPERF3)
    (flow,) = run["flows"]
    # These values are the receiver's, over its own time.
    assert flow["goodput_mbps"] == pytest.approx(9.0)
    assert flow["data_bytes_delivered"] == 2.25 * 2**20
    assert flow["retransmissions"] == 3
    # A value read at 1 s holds until 2 s, the next one until 2.1 s.
    assert flow["mean_cwnd_bytes"] == pytest.approx((100 * 1024 + 0.1 * 300 * 1024) / 1.1, rel=0.02)
    assert (flow["mean_srtt_ms"], flow["throughput_mbps"], flow["loss_rate"]) == (None, None, None)
    facts = {"tool": "iperf3", "protocol": "TCP", "streams": 1, "reverse": False, "bidirectional": False}
    assert run["iperf"] == facts
    dumbbell("report", "out", "--html")


def test_the_other_direction_counts_what_this_end_received(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, IPERF3_REVERSE)
    (flow,) = run["flows"]
    assert (flow["goodput_mbps"], flow["retransmissions"]) == (pytest.approx(10.0), 7)
    assert "printed by the receiver of the data" in run["notes"]


def test_both_directions_are_two_flows(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, IPERF3_BOTH_WAYS)
    assert run["iperf"]["bidirectional"]
    flows = run["flows"]
    assert [flow["goodput_mbps"] for flow in flows] == pytest.approx([9.5, 19.5])
    assert [flow["retransmissions"] for flow in flows] == [0, 3]


def test_a_server_that_prints_zero_for_the_sender_does_not_say_that_nothing_was_sent(
    dumbbell: Dumbbell, folder: Path
) -> None:
    (flow,) = only_run(dumbbell, folder, IPERF3_SERVER)["flows"]
    assert (flow["goodput_mbps"], flow["retransmissions"]) == (pytest.approx(10.0), None)


@pytest.mark.parametrize(
    ("text", "mbps", "lost_packets", "sent_packets"),
    [
        (IPERF3_UDP, 1.0, 9, 181),
        (IPERF2_UDP, 1.03, 13, 893),
        # The sender counts the bytes, the receiver the losses.
        (IPERF3_OLD_UDP, 10.5 / 4, 1500, 2000),
        ("\n".join([IPERF3_OLD_UDP.splitlines()[0], *IPERF3_OLD_UDP.splitlines()[-3:]]), 10.5 / 4, 1500, 2000),
        # a total of zero
        (IPERF3_OLD_UDP_SERVER, 5.0, 1000, 2000),
    ],
)
def test_losses_of_udp_are_those_of_the_receiver(
    dumbbell: Dumbbell, folder: Path, text: str, mbps: float, lost_packets: int, sent_packets: int
) -> None:
    (flow,) = only_run(dumbbell, folder, text)["flows"]
    assert flow["goodput_mbps"] == pytest.approx(mbps)
    assert (flow["packets_sent"], flow["packet_loss_rate"]) == (
        sent_packets,
        pytest.approx(lost_packets / sent_packets),
    )
    assert flow["retransmissions"] is None


@pytest.mark.parametrize("text", [IPERF2_SERVER, IPERF2_CSV])
def test_tests_one_after_another_are_runs_of_their_own(dumbbell: Dumbbell, folder: Path, text: str) -> None:
    first, second = runs(dumbbell, folder, text)
    assert first["flows"][0]["goodput_mbps"] == pytest.approx(10.1 if text == IPERF2_SERVER else 10.0)
    assert second["flows"][0]["goodput_mbps"] == pytest.approx(5.0)
    assert second["flows"][0]["start_s"] == 0


def test_a_sender_alone_does_not_tell_what_arrived(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, IPERF2_ENHANCED)
    (flow,) = run["flows"]
    assert (flow["goodput_mbps"], flow["data_bytes_delivered"], flow["retransmissions"]) == (None, None, 3)
    # The RTT is 20 ms for one second, and 40 ms for another; the line of 3 s has no window, so the last one holds.
    assert flow["mean_srtt_ms"] == pytest.approx(30, abs=0.1)
    assert flow["mean_cwnd_bytes"] == pytest.approx(200 * 1024, rel=0.01)
    (note,) = (note for note in run["notes"] if "what arrived is not known" in note)
    assert "0.3932 MB in 2.996 s, 1.05 Mbit/s" in note


def test_a_text_without_its_header_does_not_tell_which_end_it_is_of(dumbbell: Dumbbell, folder: Path) -> None:
    lines = [line for line in IPERF2_SERVER.splitlines()[6:9]]
    run = only_run(dumbbell, folder, "\ufeff" + "\n".join(lines))
    assert run["flows"][0]["goodput_mbps"] is None
    assert any("does not tell which end" in note for note in run["notes"])


def test_a_test_that_was_cut_short_counts_up_to_there(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(
        dumbbell, folder, "".join(IPERF3_REVERSE.splitlines(keepends=True)[:6]) + "iperf3: interrupt - the\n"
    )
    assert run["flows"][0]["goodput_mbps"] == pytest.approx(10.0)
    assert "cut short: there is no total at the end" in run["notes"]


def test_a_test_that_is_in_a_file_twice_is_imported_once(dumbbell: Dumbbell, folder: Path) -> None:
    first, second = runs(dumbbell, folder, IPERF3 + IPERF3_REVERSE + IPERF3)
    assert [made_run["flows"][0]["goodput_mbps"] for made_run in (first, second)] == pytest.approx([9.0, 10.0])
    assert any("left out: one test that the file has twice" in note for note in first["notes"])


def test_lines_may_have_times_in_front(dumbbell: Dumbbell, folder: Path) -> None:
    stamped_text = re.sub("^", "Tue Nov 14 22:13:20 2023 ", IPERF3, flags=re.MULTILINE)
    assert only_run(dumbbell, folder, stamped_text)["flows"][0]["goodput_mbps"] == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "bad.txt: is empty"),
        ("hello\n", "bad.txt: there is no line of an interval of iperf in it"),
        (
            "Connecting to host 10.0.0.2, port 5201\niperf3: error - unable to connect to server: Connection refused\n",
            "bad.txt: iperf says: iperf3: error - unable to connect to server",
        ),
        ("[  5]   2.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec\n", "bad.txt:1: is out of bounds"),
        (f"[  5]   0.00-1.00   sec  1{'0' * 30} MBytes  10.5 Mbits/sec\n", "bad.txt:1: is out of bounds"),
        (
            "[  5]   3.00-5.00   sec  1.25 MBytes  5 Mbits/sec\n[  5]   2.00-3.00   sec  1.25 MBytes  10 Mbits/sec\n",
            "bad.txt:2: the time goes back to 2 s",
        ),
        (
            "".join(f"[{number:3}]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec\n" for number in range(257)),
            "bad.txt:1: has 257 streams: allowed are 256",
        ),
        (
            "20231314221320,10.0.0.2,5001,10.0.0.1,40000,3,0.0-1.0,1250000,10000000\n",
            "bad.txt:1: `20231314221320` is no time",
        ),
    ],
)
def test_a_bad_text_is_one_line(dumbbell: Dumbbell, folder: Path, text: str, complaint: str) -> None:
    (folder / "bad.txt").write_text(text)
    result = dumbbell("import", "iperf", "bad.txt", "--out", "x", expect=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()
