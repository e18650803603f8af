"""Text of nuttcp as results: real output of both forms, of UDP, of an old version, cut short, and damaged."""

from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell, show
from support.inputs.nuttcp_texts import OLD, PARSABLE, TCP, UDP


def runs(dumbbell: Dumbbell, folder: Path, text: str) -> list[dict[str, Any]]:
    (folder / "t.txt").write_text(text)
    dumbbell("import", "nuttcp", "t.txt", "--out", "out")
    imported_runs: list[dict[str, Any]] = show(dumbbell, "out")["runs"]
    return imported_runs


def only_run(dumbbell: Dumbbell, folder: Path, text: str) -> dict[str, Any]:
    (run,) = runs(dumbbell, folder, text)
    return run


def test_numbers_by_hand(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, TCP)
    (flow,) = run["flows"]
    assert flow["data_bytes_delivered"] == int(4.8429 * 2**20)
    assert flow["goodput_mbps"] == pytest.approx(9.1879, rel=1e-5)
    assert flow["retransmissions"] == 122
    # No line has the headers, or the metrics that need packets. The windows may be those of one of several streams.
    for name in ("throughput_mbps", "owd_p95_ms", "packet_loss_rate", "mean_cwnd_bytes", "mean_srtt_ms"):
        assert flow[name] is None, name
    assert run["nuttcp"] == {"protocol": "TCP", "rtt_ms": 40.42}
    assert "round-trip time when the connection began: 40.42 ms" in run["notes"]
    dumbbell("report", "out", "--html")


def test_the_form_for_programs_tells_the_same(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, PARSABLE)
    (flow,) = run["flows"]
    assert flow["data_bytes_delivered"] == int(2.6044 * 2**20)
    # The printed rate differs by 0.1 % from the rate by the printed time.
    assert flow["goodput_mbps"] == pytest.approx(2.6044 * 2**20 * 8 / 2.77e6, rel=2e-3)
    assert (flow["retransmissions"], run["nuttcp"]["rtt_ms"]) == (73, 40.48)


def test_udp_tells_what_was_lost(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, UDP)
    (flow,) = run["flows"]
    assert (flow["packets_sent"], run["nuttcp"]["protocol"]) == (865, "UDP")
    assert flow["packet_loss_rate"] == pytest.approx(27 / 865)
    assert flow["goodput_mbps"] == pytest.approx(4.4439, rel=1e-3)
    assert flow["retransmissions"] is None


def test_old_versions_do_not_know_retransmissions(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, OLD)
    (flow,) = run["flows"]
    assert (flow["retransmissions"], flow["goodput_mbps"]) == (None, pytest.approx(9.0845, rel=1e-3))
    note = "retransmissions are not known: versions of nuttcp that print no window print 0 whatever there are"
    assert note in run["notes"]


def test_retransmissions_of_the_whole_host_are_not_those_of_the_test(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, TCP.replace(" retrans", " host-retrans"))
    assert run["flows"][0]["retransmissions"] is None
    assert "retransmissions are those of the whole host: those of the test are not known" in run["notes"]


def test_streams_count_together(dumbbell: Dumbbell, folder: Path) -> None:
    text = "    2.0000 MB /   2.00 sec =    8.3886 Mbps 1 %TX 0 %RX 12 = 5+7 retrans 100 KB-cwnd\n"
    (flow,) = only_run(dumbbell, folder, text)["flows"]
    assert (flow["retransmissions"], flow["data_bytes_delivered"]) == (12, 2 * 2**20)


def test_tests_one_after_another_are_runs(dumbbell: Dumbbell, folder: Path) -> None:
    imported_runs = runs(dumbbell, folder, TCP + UDP)
    assert [run["scheme"] for run in imported_runs] == ["t-1", "t-2"]
    assert [run["flows"][0]["goodput_mbps"] for run in imported_runs] == [
        pytest.approx(9.1879, rel=1e-3),
        pytest.approx(4.4439, rel=1e-3),
    ]


def test_a_test_that_was_cut_short_counts_as_far_as_it_went(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, TCP.partition("\n\n")[0])
    (flow,) = run["flows"]
    assert flow["data_bytes_delivered"] == 4.375 * 2**20
    assert flow["retransmissions"] == 89 + 10 + 14 + 7
    assert "cut short: there is no total at the end" in run["notes"]


def test_a_sender_without_its_receiver_does_not_tell_what_arrived(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, "    7.1250 MB /   3.03 sec =   19.7430 Mbps 11 %TX\n")
    assert run["flows"][0]["goodput_mbps"] is None
    assert "the sender alone tells what it handed to the kernel: what arrived is not known" in run["notes"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nuttcp-t: v8.2.2: Error: connect: Connection refused\nerrno=111\n", "nuttcp says: Error: connect: Conn"),
        ("iperf Done.\n", "there is no line of nuttcp in it, as `7.1250 MB / 3.03 sec = "),
        (f"\n {'9' * 400}.0 MB /   1.00 sec =    6.6501 Mbps\n", "t.txt:2: is out of bounds: allowed are values to"),
        (UDP.partition("\n\n")[2] * 1001, "t.txt:1001: has more than 1000 tests: cut it into parts"),
        ("    1.0000 MB / 90000000.00 sec =    0.0000 Mbps 1 %TX 0 %RX\n", "lasts 90000000 s, more than the"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_line(dumbbell: Dumbbell, folder: Path, text: str, reason: str) -> None:
    (folder / "t.txt").write_text(text)
    result = dumbbell("import", "nuttcp", "t.txt", "--out", "out", expect=2)
    assert result.stderr.startswith("dumbbell: t.txt:")
    assert reason in result.stderr
    assert not (folder / "out").exists()
