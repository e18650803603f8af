"""Scripts in packetdrill's syntax: what is converted, what is refused, and that the result runs."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell
from dumbbell.formats.packetdrill import convert_packetdrill
from support.commands.command import Dumbbell
from support.inputs.packetdrill_scripts import CLIENT, LOSS, OPEN, RECEIVER
from support.told import told


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
        (
            "// a server",
            "--tolerance_usecs=10000",
            snapshot("dumbbell: loss.pkt: line 1: `--tolerance_usecs`: options of packetdrill are not taken"),
        ),
        (
            "congestion_control=reno",
            "rmem=4096",
            snapshot(
                """\
dumbbell: loss.pkt: line 2: sysctl `net.ipv4.tcp_rmem`: expected net.ipv4.tcp_sack,
  net.ipv4.tcp_early_retrans, net.ipv4.tcp_recovery, net.ipv4.tcp_congestion_control\
"""
            ),
        ),
        (
            "sysctl -q",
            "rm -r",
            snapshot(
                """\
dumbbell: loss.pkt: line 2: command `rm -r net.ipv4.tcp_congestion_control=reno`: expected sysctl or
  defaults.sh: nothing is executed\
"""
            ),
        ),
        (
            "listen(3, 1)",
            "fork(3)",
            snapshot(
                """\
dumbbell: loss.pkt: line 7: call `fork`: expected socket, bind, listen, accept, connect, fcntl,
  getsockopt, read, recv, close, write, send, sendto, setsockopt\
"""
            ),
        ),
        (
            "SO_REUSEADDR",
            "SO_LINGER",
            snapshot(
                """\
dumbbell: loss.pkt: line 5: socket option `SO_LINGER`: expected SO_REUSEADDR, TCP_NODELAY,
  SO_SNDBUF, TCP_CONGESTION\
"""
            ),
        ),
        (
            "+.1 < .",
            "* < .",
            snapshot(
                "dumbbell: loss.pkt: line 11: time `*`: expected seconds such as `0.1` or `+.1`, at most 9 decimals"
            ),
        ),
        (
            "+.1 < .",
            "+.1~+.2 < .",
            snapshot(
                """\
dumbbell: loss.pkt: line 11: time `+.1~+.2`: expected seconds such as `0.1` or `+.1`, at most 9
  decimals\
"""
            ),
        ),
        (
            "= 10000",
            "= 5000",
            snapshot(
                """\
dumbbell: loss.pkt: line 16: `write`: expected one that writes all of its bytes: `write(4, ...,
  1000) = 1000`\
"""
            ),
        ),
        (
            "> P. 1:10001(10000)",
            "> P. 1:10001(9000)",
            snapshot(
                """\
dumbbell: loss.pkt: line 17: `> P. 1:10001(9000) ack 1`: from 1 to 10001 are not 9000 bytes (at most
  1000000)\
"""
            ),
        ),
        (
            "> P. 1:10001(10000)",
            "> F. 1:1(0)",
            snapshot(
                """\
dumbbell: loss.pkt: line 17: FIN, RST and URG: expected data and ACKs, as the built-in transport
  closes no connection\
"""
            ),
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "> udp (100)",
            snapshot(
                """\
dumbbell: loss.pkt: line 17: `> udp (100)`: expected a TCP segment, for example `> P. 1:1001(1000)
  ack 1`\
"""
            ),
        ),
        (
            "tcpi_snd_cwnd == 10,",
            "tcpi_unacked == 10,",
            snapshot(
                """\
dumbbell: loss.pkt: line 18: `tcpi_unacked`: expected tcpi_snd_cwnd, tcpi_snd_ssthresh, tcpi_rtt,
  tcpi_rttvar, tcpi_ca_state\
"""
            ),
        ),
        (
            "assert tcpi_snd_cwnd == 10",
            "print tcpi_snd_cwnd",
            snapshot(
                """\
dumbbell: loss.pkt: line 18: `print tcpi_snd_cwnd, tcpi_snd_cwnd`: expected `assert tcpi_snd_cwnd ==
  10`\
"""
            ),
        ),
        (
            "win 257",
            "win 57",
            snapshot(
                """\
dumbbell: loss.pkt: line 19: a window of 7296 bytes, below the 10000 that are written: no script has
  such a window\
"""
            ),
        ),
        (
            "   +0 > . 2001:3001",
            "   +0 < P. 1:3(2) ack 1\n   +0 > . 2001:3001",
            snapshot("dumbbell: loss.pkt: data in both directions: expected one direction"),
        ),
        (
            OPEN,
            "",
            snapshot("dumbbell: loss.pkt: line 5: a segment before the connection is opened: expected SYN first"),
        ),
    ],
)
def test_what_scripts_do_not_have_is_refused_with_its_line(
    dumbbell: Dumbbell, folder: Path, old: str, new: str, complaint: str
) -> None:
    (folder / "loss.pkt").write_text(LOSS.replace(old, new) if old != OPEN else LOSS.replace(OPEN, ""))
    refused = dumbbell("import", "packetdrill", "loss.pkt", "--out", "loss.txt", expect=2)
    assert refused.stderr.startswith("dumbbell: loss.pkt: ")
    assert told(refused.stderr, folder) == complaint
    assert len(refused.stderr.splitlines()) == 1
    assert not (folder / "loss.txt").exists()
