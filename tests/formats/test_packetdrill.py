"""Scripts in packetdrill's syntax: what is converted, what is refused, and that the result runs."""

from pathlib import Path

import pytest

import dumbbell
from dumbbell.formats.packetdrill import convert_packetdrill
from support.commands.command import Dumbbell
from support.inputs.packetdrill_scripts import CLIENT, LOSS, OPEN, RECEIVER


def test_a_loss_is_repaired_as_it_says(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "loss.pkt").write_text(LOSS)
    assert dumbbell("import", "packetdrill", "loss.pkt", "--out", "loss.txt").stdout == "loss.txt\n"
    text = (folder / "loss.txt").read_text()
    assert "\n@0.2 ack next=2000 sack=3000..3999  # loss.pkt, line 20\n" in text
    assert "\n@0.2 out 11 offset=2000 bytes=1000 retransmission=yes  # loss.pkt, line 23\n" in text
    assert dumbbell("vectors", "--run", "loss.txt").stdout == "loss.txt: 19 conditions hold\n"
    assert dumbbell("vectors", "--run", "loss.pkt").stdout == "loss.pkt: 19 conditions hold\n"
    (folder / "loss.pkt").write_text(LOSS.replace("tcpi_snd_ssthresh == 6", "tcpi_snd_ssthresh == 5"))
    shown = dumbbell("vectors", "--run", "loss.pkt", expect=1).stdout
    assert "expected ssthresh<=5.999, found 6 (loss.pkt, line 24)" in shown
    assert (
        "loss.txt: exists: choose another file"
        in dumbbell("import", "packetdrill", "loss.pkt", "--out", "loss.txt", expect=2).stderr
    )


@pytest.mark.parametrize("text", [RECEIVER, CLIENT], ids=["receiver", "client"])
def test_receivers_and_clients_run_too(text: str, folder: Path) -> None:
    (folder / "one.pkt").write_text(text)
    (result,) = dumbbell.run_scripts([folder / "one.pkt"])
    assert result.passed, result.failures
    assert len(result.checks) >= 2


def test_timestamps_shorten_segments_and_without_sackok_there_is_no_sack() -> None:
    text = convert_packetdrill(CLIENT, "client.pkt")
    assert "\nmss 1000\n" in text
    assert "sack=no" in text


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("// a server", "--tolerance_usecs=10000", "line 1: `--tolerance_usecs`: options of packetdrill are not taken"),
        ("congestion_control=reno", "rmem=4096", "line 2: sysctl `net.ipv4.tcp_rmem`: expected net.ipv4.tcp_sack,"),
        ("sysctl -q", "rm -r", "line 2: command `rm -r net.ipv4.tcp_congestion_control=reno`: expected sysctl or"),
        ("listen(3, 1)", "fork(3)", "line 7: call `fork`: expected socket,"),
        ("SO_REUSEADDR", "SO_LINGER", "line 5: socket option `SO_LINGER`: expected SO_REUSEADDR,"),
        ("+.1 < .", "* < .", "line 11: time `*`: expected seconds"),
        ("+.1 < .", "+.1~+.2 < .", "line 11: time `+.1~+.2`: expected seconds"),
        ("= 10000", "= 5000", "line 16: `write`: expected one that writes all of its bytes"),
        ("> P. 1:10001(10000)", "> P. 1:10001(9000)", "line 17: `> P. 1:10001(9000) ack 1`: from 1 to 10001 are not"),
        ("> P. 1:10001(10000)", "> F. 1:1(0)", "line 17: FIN, RST and URG: expected data and ACKs"),
        ("> P. 1:10001(10000) ack 1", "> udp (100)", "line 17: `> udp (100)`: expected a TCP segment"),
        ("tcpi_snd_cwnd == 10,", "tcpi_unacked == 10,", "line 18: `tcpi_unacked`: expected tcpi_snd_cwnd,"),
        (
            "assert tcpi_snd_cwnd == 10",
            "print tcpi_snd_cwnd",
            "line 18: `print tcpi_snd_cwnd, tcpi_snd_cwnd`: expected",
        ),
        ("win 257", "win 57", "line 19: a window of 7296 bytes, below the 10000 that are written"),
        ("   +0 > . 2001:3001", "   +0 < P. 1:3(2) ack 1\n   +0 > . 2001:3001", "data in both directions"),
        (OPEN, "", "line 5: a segment before the connection is opened: expected SYN first"),
    ],
)
def test_what_scripts_do_not_have_is_refused_with_its_line(
    dumbbell: Dumbbell, folder: Path, old: str, new: str, complaint: str
) -> None:
    (folder / "loss.pkt").write_text(LOSS.replace(old, new) if old != OPEN else LOSS.replace(OPEN, ""))
    refused = dumbbell("import", "packetdrill", "loss.pkt", "--out", "loss.txt", expect=2)
    assert refused.stderr.startswith("dumbbell: loss.pkt: ")
    assert complaint in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (folder / "loss.txt").exists()
