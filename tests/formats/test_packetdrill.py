"""Tests of packetdrill's scripts: converted, omitted and refused lines, and the results of runs."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell
import dumbbell_conformance
from dumbbell_conformance.packetdrill.script import convert_packetdrill, notes_of
from support.commands.command import Dumbbell
from support.inputs.packetdrill_scripts import CLIENT, LOSS, MIXED, OPEN, RECEIVER
from support.told import transcript

REFUSED = ": out of scope, and nothing is tested before"
ENDS = ": the script ends before this line"
WROTE = f"{OPEN}   +0 write(4, ..., 10000) = 10000\n   +0 > P. 1:10001(10000) ack 1\n"


def _lines(text: str) -> list[str]:
    """Return the converted script's events and conditions, without comments."""
    script = convert_packetdrill(text, "x.pkt")
    return [line.partition("#")[0].strip() for line in script.partition("\n\n")[2].split("\n") if line]


def _header(text: str, key: str) -> str:
    lines = convert_packetdrill(text, "x.pkt").split("\n")
    return next(line.partition(" ")[2] for line in lines if line.startswith(f"{key} "))


def _notes(text: str) -> list[str]:
    return list(notes_of(convert_packetdrill(text, "x.pkt")))


def _refusal(text: str) -> str:
    with pytest.raises(dumbbell.Error) as error:
        convert_packetdrill(text, "x.pkt")
    assert "\n" not in str(error.value)
    return str(error.value)


def _result(text: str, folder: Path) -> dumbbell_conformance.ScriptResult:
    (folder / "x.pkt").write_text(text)
    (result,) = dumbbell_conformance.run_scripts([folder / "x.pkt"])
    return result


def test_a_loss_is_repaired_as_it_says(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "loss.pkt").write_text(LOSS)
    assert dumbbell("import", "packetdrill", "loss.pkt", "--out", "loss.txt").stdout == "loss.txt\n"
    text = (folder / "loss.txt").read_text()
    assert "\n@0.2 ack next=2000 sack=3000..3999  # loss.pkt, line 20\n" in text
    assert "\n@0.2 out 11 offset=2000 bytes=1000 retransmission=yes  # loss.pkt, line 23\n" in text
    assert dumbbell("vectors", "--run", "loss.txt").stdout == "loss.txt: 19 conditions hold\n"
    assert dumbbell("vectors", "--run", "loss.pkt").stdout == "loss.pkt: 19 conditions hold\n"
    (folder / "loss.pkt").write_text(LOSS.replace("tcpi_snd_ssthresh == 6", "tcpi_snd_ssthresh == 5"))
    output = dumbbell("vectors", "--run", "loss.pkt", expect=1).stdout
    assert "expected ssthresh<=5.999, found 6 (loss.pkt, line 24)" in output
    assert (
        "loss.txt: exists: choose another file"
        in dumbbell("import", "packetdrill", "loss.pkt", "--out", "loss.txt", expect=2).stderr
    )


@pytest.mark.parametrize("text", [RECEIVER, CLIENT, MIXED], ids=["receiver", "client", "mixed"])
def test_receivers_and_clients_run_too(text: str, folder: Path) -> None:
    result = _result(text, folder)
    assert result.passed, result.failures
    assert len(result.checks) >= 2


def test_timestamps_shorten_segments_and_without_sackok_there_is_no_sack() -> None:
    assert _header(CLIENT, "mss") == "1000"
    assert "sack=no" in _header(CLIENT, "transport")


def test_what_is_left_out_is_told_with_its_line_by_both_commands(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mixed.pkt").write_text(MIXED)
    import_result = dumbbell("import", "packetdrill", "mixed.pkt", "--out", "mixed.txt")
    assert transcript(import_result.stderr, folder) == snapshot(
        """\
note: mixed.pkt: left out: line 4: sysctl `net.ipv4.tcp_min_tso_segs`: no such setting of the
  built-in transport
note: mixed.pkt: left out: line 21: `tcpi_unacked`: a sender of the built-in transport reports no
  such number
note: mixed.pkt: left out: line 27: result of the call `getsockopt`
note: mixed.pkt: left out: line 32: data of the peer, and their ACKs: a script drives one direction
note: mixed.pkt: left out: line 35: `> F. 1801:1801(0) ack 501`: the built-in transport closes no
  connection: the script ends before this line\
"""
    )
    run = dumbbell("vectors", "--run", "mixed.pkt")
    assert run.stdout == snapshot("mixed.pkt: 12 conditions hold\n")
    assert run.stderr == import_result.stderr
    (result,) = json.loads(dumbbell("vectors", "--run", "mixed.pkt", "--json").stdout)
    assert len(result["notes"]) == 5
    # The converted script gives the same report.
    assert dumbbell("vectors", "--run", "mixed.txt").stderr == import_result.stderr.replace(
        "mixed.pkt: left", "mixed.txt: left"
    )


def test_a_program_that_never_writes_sent_data(folder: Path) -> None:
    silent = OPEN + "   +0 < . 1:1(0) ack 1 win 257\n   +1 %{ assert tcpi_unacked == 0 }%\n"
    assert "@0 write bytes=0" in _lines(silent)
    result = _result(silent, folder)
    assert result.passed
    assert [check.condition for check in result.checks][1:] == ["in_flight<=0"]
    # A program whose writes fail gives none either.
    silent_failure = (
        silent + "   +0 write(4, ..., 1000) = -1 EPIPE (Broken pipe)\n   +1 %{ assert tcpi_unacked == 0 }%\n"
    )
    assert _result(silent_failure, folder).passed


def test_the_message_asked_for_what_was_written(folder: Path) -> None:
    text = f"{WROTE}   +0 %{{ assert tcpi_snd_cwnd == 10, 'cwnd=%d {{rtt}}' % tcpi_snd_cwnd }}%\n"
    assert _result(text, folder).passed
    refusal = _refusal(text.replace("tcpi_snd_cwnd ==", "tcpi_snd_cwmd =="))
    assert refusal == snapshot("x.pkt: line 15: `tcpi_snd_cwmd`: no such field or name (did you mean `tcpi_snd_cwnd`?)")
    assert "did you mean `TCP_CA_Disorder`" in _refusal(
        f"{WROTE}   +0 %{{ assert tcpi_ca_state == TCP_CA_Disordr }}%\n"
    )
    assert _refusal(f"{WROTE}   +0 %{{ assert tcpi_snd_cwnd = 10 }}%\n") == snapshot(
        "x.pkt: line 15: `assert tcpi_snd_cwnd = 10`: expected Python such as `assert tcpi_snd_cwnd == 10`"
    )
    assert _refusal(f"{WROTE}/* for now") == "x.pkt: a comment that begins with `/*` and that nothing closes"
    assert "code that no `}%` closes" in _refusal(f"{WROTE}   +0 %{{ assert tcpi_snd_cwnd == 10\n")


@pytest.mark.parametrize(
    ("code", "conditions"),
    [
        ("assert tcpi_ca_state == TCP_CA_Disorder", "recovery=0"),
        ("assert tcpi_ca_state == TCP_CA_Loss", "recovery=0"),
        ("assert tcpi_ca_state == TCP_CA_CWR, tcpi_ca_state", "recovery=1"),
        ("assert 7 < tcpi_snd_cwnd <= 10", "window>=8000 window<=10999"),
        (
            "assert 10 == tcpi_snd_cwnd; assert tcpi_snd_ssthresh >= 0x7fffffff",
            "window>=10000 window<=10999 ssthresh=none",
        ),
        ("MOST = 2 * 5 # packets\nassert (tcpi_snd_cwnd == MOST), 'x'", "window>=10000 window<=10999"),
        ("assert 95000 <= tcpi_rtt and tcpi_rttvar <= 50000", "srtt>=95.0 rttvar<=50.0"),
        ("assert tcpi_min_rtt == 100000", "lowest_rtt=100.0~4"),
        ("assert tcpi_unacked == 10", "in_flight>=9001 in_flight<=10000"),
        (
            "\n  assert tcpi_unacked == 4 and tcpi_sacked == 1\n  assert tcpi_lost == 2\n  assert tcpi_retrans == 1\n",
            "in_flight>=1001 in_flight<=2000",
        ),
    ],
)
def test_an_assertion_is_read_as_python_reads_it(code: str, conditions: str) -> None:
    assert _lines(f"{WROTE}   +0 %{{ {code} }}%\n")[-2] == f"expect {conditions}"


@pytest.mark.parametrize(
    "code",
    [
        "assert tcpi_total_retrans == 0",
        "assert (tcpi_options & TCPI_OPT_SYN_DATA) == 0",
        "assert tcpi_snd_cwnd in (9, 10)",
        "assert tcpi_snd_cwnd == 10 or tcpi_lost",
        "assert abs(tcpi_rtt - 100000) < 9",
        "import os; os.remove('x')",
        "assert bbr_bw > 10",
        "assert tcpi_snd_cwnd != 9",
    ],
)
def test_code_that_is_no_comparison_of_a_number_is_noted_and_never_executed(code: str) -> None:
    text = f"{WROTE}   +0 %{{ {code} }}%\n   +0 %{{ assert tcpi_snd_cwnd == 10 }}%\n"
    assert sum(line.startswith("expect") for line in _lines(text)) == 1
    assert _notes(text)
    assert all(note.startswith("line 15: `") for note in _notes(text))


def test_a_range_of_times_and_the_tolerance_option_were_refused(folder: Path) -> None:
    late = (
        f"--tolerance_usecs=2000\n{WROTE}  +.1 < . 1:1(0) ack 9001 win 257\n +.29~+.309 > P. 9001:10001(1000) ack 1\n"
    )
    assert _header(late, "tolerance") == "0.0115"
    assert "@0.4995 out 11 offset=9000 bytes=1000 retransmission=yes" in _lines(late)
    after = f"{late}   +0 %{{ assert tcpi_snd_cwnd == 1 }}%\n  +.1 < . 1:1(0) ack 10001 win 257\n"
    assert "@0.59 ack next=10000" in _lines(after), "as the packet leaves at the earliest time"
    # the first probe leaves after two round trips and the receiver's delay, 240 ms
    values = [check.found for check in _result(late, folder).failures]
    assert values == ["@0.44 out 11 offset=9000 bytes=1000 retransmission=yes"]
    assert _result(late.replace("+.29~+.309", "+.23~+.25"), folder).passed
    assert _refusal(late.replace("+.29~", "+.4~")) == snapshot(
        "x.pkt: line 17: time `+.4~+.309`: expected the earlier time first"
    )
    assert "a range of times is for packets that leave" in _refusal(f"{WROTE}+.1~+.2 < . 1:1(0) ack 9001 win 257\n")


def test_what_leaves_after_the_last_packet_that_is_named_was_a_failure(folder: Path) -> None:
    text = f"{WROTE}   +0 write(4, ..., 50000) = 50000\n  +.1 < . 1:1(0) ack 10001 win 400\n"
    assert _result(text, folder).passed
    late_data = f"{text}  +.1 < . 1:1(0) ack 20001 win 400\n   +0 > P. 30001:31001(1000) ack 1\n"
    assert "data from 30001 on leave: expected 1 to 20001" in _refusal(late_data)
    # without any packet that is named, the assertions count
    without_data = text.replace("   +0 > P. 1:10001(10000) ack 1\n", "") + "   +0 %{ assert tcpi_snd_cwnd == 20 }%\n"
    assert _result(without_data, folder).passed
    assert not _result(without_data.replace("== 20", "== 21"), folder).passed


def test_fin_was_refused(folder: Path) -> None:
    with_fin = f"{WROTE}  +.1 < F. 1:1(0) ack 10001 win 257\n   +0 > . 10001:10001(0) ack 2\n  +.1 close(4) = 0\n"
    with_fin += "   +0 > F. 10001:10001(0) ack 2\n   +0 < . 2:2(0) ack 10002 win 257\n"
    assert _result(with_fin, folder).passed
    assert _notes(with_fin) == [
        "line 15: FIN of the peer: the built-in transport closes no connection",
        "line 16: the ACK of the peer's FIN",
        f"line 18: `> F. 10001:10001(0) ack 2`: the built-in transport closes no connection{ENDS}",
    ]
    last = with_fin.replace("P. 1:10001(10000)", "FP. 1:10001(10000)")
    assert "out 1..10 offset=0" in "\n".join(_lines(last))
    assert len(_notes(last)) == 1
    received_fin = f"{OPEN}   +0 < FP. 1:2001(2000) ack 1 win 257\n   +0 > . 1:1(0) ack 2002\n"
    assert _lines(received_fin)[-1] == "@0.1 out next=2000"


@pytest.mark.parametrize(
    ("command", "key", "expected"),
    [
        ("sysctl -q net.ipv4.tcp_slow_start_after_idle=1", "transport", "restart_window=yes"),
        ("sysctl -w -e net/ipv4/tcp_recovery=0 > /dev/null 2>&1", "transport", "time_threshold=0"),
        ("../common/set_sysctls.py \\\n  /proc/sys/net/ipv4/tcp_reordering=6", "transport", "packet_threshold=6"),
        ("sysctl -q net.ipv4.tcp_early_retrans=4 net.ipv4.tcp_sack=0", "transport", "tail_loss_probe=yes"),
        ("sysctl -q net.ipv4.tcp_early_retrans=2", "transport", "tail_loss_probe=no"),
        ("echo 5000 > /proc/sys/net/ipv4/tcp_rto_min_us", "transport", "timeout_min_ms=5"),
        ("echo 0 > /sys/module/tcp_cubic/parameters/hystart", "controller", "slow_start=classic"),
        ("sysctl -q net.ipv4.tcp_congestion_control=reno", "controller", "reno"),
        ("ip route change 192.0.2.1 via 192.168.0.2 dev tun0 initcwnd 11", "window", "11"),
        ("# sysctl -q net.ipv4.tcp_congestion_control=reno", "controller", "cubic"),
    ],
)
def test_settings_by_shell_lines_were_refused(command: str, key: str, expected: str) -> None:
    script = WROTE.replace("sysctl -q net.ipv4.tcp_congestion_control=reno", command)
    assert expected in _header(script, key).split()
    assert not _notes(script)


def test_commands_that_change_nothing_that_is_tested_are_noted_and_never_executed() -> None:
    script = WROTE.replace("sysctl -q", "touch x; rm -r x\nsysctl -q net.ipv4.tcp_rmem='4096 1 2'")
    assert _notes(script + "   +0 `ss -i | grep x`\n") == snapshot(
        [
            "line 3: command `touch x`: no command is executed",
            "line 3: command `rm -r x`: no command is executed",
            "line 4: sysctl `net.ipv4.tcp_rmem`: no such setting of the built-in transport",
            "line 16: command `ss -i`: no command is executed",
            "line 16: command `grep x`: no command is executed",
        ]
    )


def test_a_window_of_the_peer_that_keeps_data_back_ends_the_script(folder: Path) -> None:
    text = f"{WROTE}  +.1 < . 1:1(0) ack 10001 win 0\n   +0 write(4, ..., 9000) = 9000\n +.3 > . 10000:10000(0) ack 1\n"
    text += "  +.1 < . 1:1(0) ack 10001 win 257\n   +0 > P. 10001:19001(9000) ack 1\n"
    assert _result(text, folder).passed
    assert _notes(text) == [f"line 18: the peer's window of 0 bytes keeps data back that the program has written{ENDS}"]
    # a small window does no harm while nothing is kept back
    assert _notes(f"{WROTE}  +.1 < . 1:1(0) ack 10001 win 0\n") == []


def test_a_paced_sender_is_not_compared_with_one_that_is_not_paced() -> None:
    paced_text = WROTE.replace("sysctl -q", "tc qdisc replace dev tun0 root fq\nsysctl -q")
    assert (
        _refusal(paced_text)
        == f"x.pkt: line 15: times of data that leave, while a queueing discipline (fq) paces them{REFUSED}"
    )
    untimed_text = paced_text.replace("   +0 > P. 1:10001(10000) ack 1\n", "   +0 %{ assert tcpi_snd_cwnd == 10 }%\n")
    assert _notes(untimed_text) == ["line 3: command `tc qdisc replace dev tun0 root fq`: no packet is paced"]


def test_a_window_in_bytes_was_read_as_packets(folder: Path) -> None:
    text = f"{WROTE}   +0 %{{ assert tcpi_snd_cwnd == 10000; assert tcpi_snd_ssthresh >= 1073725440 }}%\n"
    assert _lines(text)[-2] == "expect window>=10000 window<=10000 ssthresh=none"
    assert _notes(text) == ["line 15: `tcpi_snd_cwnd` of 10000: taken as bytes, which FreeBSD counts, not as packets"]
    assert _result(text, folder).passed
    halved_text = LOSS.replace("tcpi_snd_ssthresh == 6", "tcpi_snd_ssthresh == 6000")
    assert _result(halved_text, folder).passed
    assert not _result(halved_text.replace("== 6000", "== 6100"), folder).passed


def test_a_handshake_that_takes_no_time_made_a_tail_loss_probe_leave_at_once(folder: Path) -> None:
    text = WROTE.replace("+.1 < .", "+0 < .") + "  +.1 < . 1:1(0) ack 1001 win 257\n"
    text += "   +0 %{ assert tcpi_unacked == 9 }%\n"
    assert _result(text, folder).passed
    assert _notes(text) == [
        "line 11: a handshake that takes no time: no tail loss probe is sent, it would leave at once"
    ]


def test_a_second_copy_that_the_receiver_tells_of_ends_the_script() -> None:
    for blocks in ("1:1001,nop,nop", "4001:5001 3001:6001"):
        told_of = f"{WROTE}  +.1 < . 1:1(0) ack 2001 win 257 <sack {blocks}>\n   +9 > . 1:1001(1000) ack 1\n"
        block = blocks.partition(",")[0].partition(" ")[0]
        assert _notes(told_of) == [f"line 15: sack {block}: a D-SACK block, which tells of a second copy{ENDS}"]


def test_a_file_that_is_all_notes_prints_a_hundred() -> None:
    commands = "".join(f"   +0 `program-{number}`\n" for number in range(300))
    assert len(_notes(WROTE + commands)) == 101
    assert _notes(WROTE + commands)[-1] == "200 other things"
    assert _notes(WROTE + "   +0 `program`\n" * 9) == [
        "lines 15, 16, 17, 18, 19 and 4 more: command `program`: no command is executed"
    ]


def test_lines_for_a_preprocessor_are_not_taken_for_comments() -> None:
    assert "`#ifdef FreeBSD`: lines for a preprocessor" in _refusal(f"#ifdef FreeBSD\n{WROTE}")
    assert _notes(f"# a comment\n{WROTE}# another\n") == []
    assert _notes(f"{WROTE}#endif\n") == [f"line 15: `#endif`: lines for a preprocessor{ENDS}"]


def test_marks_reduce_the_window_once_ecn_is_agreed(folder: Path) -> None:
    ecn_text = WROTE.replace("< S 0:0", "< SEW 0:0").replace("> S. 0:0", "> SE. 0:0")
    marked_text = (
        ecn_text + "  +.1 < [noecn] E. 1:1(0) ack 2001 win 257\n   +0 %{ assert tcpi_ca_state == TCP_CA_CWR }%\n"
    )
    assert "ecn=ect0" in _header(marked_text, "transport").split()
    assert _result(marked_text, folder).passed
    assert not _result(marked_text.replace("SEW", "S").replace("SE.", "S."), folder).passed


def test_the_smaller_segment_size_of_both_ends_counts() -> None:
    assert _header(WROTE.replace("mss 1460", "mss 700"), "mss") == "700"
    assert _header(WROTE.replace("mss 1000,", ""), "mss") == "536"
    assert _header("--mtu=640\n" + WROTE, "mss") == "600"
    assert _header(CLIENT.replace("mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8", "..."), "mss") == "1000"


def test_a_lost_opener_had_the_number_of_the_first(folder: Path) -> None:
    again = OPEN.replace("  +.1 < . 1:1(0)", "+1 > S. 0:0(0) ack 1 <...>\n  +.1 < . 1:1(0)")
    assert _lines(again)[1:3] == ["@0 out 0 bytes=0", "@1 out 1 bytes=0"]
    assert _result(again, folder).passed


def test_a_partial_write_and_one_that_blocks_were_refused() -> None:
    text = f"{OPEN}   +0...0.200 write(4, ..., 59000) = 20000\n   +0 > P. 1:10001(10000) ack 1\n"
    assert "@0.1 write bytes=20000" in _lines(text)
    assert _refusal(text.replace("= 20000", "= 60000")) == snapshot(
        "x.pkt: line 13: `write` of 59000 bytes with the result 60000: expected at most 59000"
    )
    scattered_write = (
        "+0 sendmsg(4, {msg_name(...)=...,\n  msg_iov(2)=[{..., 40},\n {..., 60}], msg_flags=0}, 0) = 100\n"
    )
    assert "@0.1 write bytes=100" in _lines(OPEN + scattered_write)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "// a server",
            "--tolerence_usecs=10000",
            snapshot(
                "x.pkt: line 1: `--tolerence_usecs`: packetdrill has no such option (did you mean `tolerance_usecs`?)"
            ),
        ),
        (
            "// a server",
            "--tolerance_usecs=many",
            snapshot("x.pkt: line 1: `--tolerance_usecs=many`: expected a whole number up to 1000000000"),
        ),
        (
            "tcp_congestion_control=reno",
            "tcp_reordering=many",
            snapshot("x.pkt: line 3: sysctl `net.ipv4.tcp_reordering` = `many`: expected a whole number"),
        ),
        (
            "congestion_control=reno`",
            "congestion_control='reno`",
            snapshot(
                "x.pkt: line 2: command `sysctl -q net.ipv4.tcp_congestion_control='reno`: a quotation is not closed"
            ),
        ),
        (
            "listen(3, 1)",
            "lisen(3, 1)",
            snapshot("x.pkt: line 7: call `lisen`: packetdrill has no such call (did you mean `listen`?)"),
        ),
        (
            "SO_REUSEADDR",
            "REUSEADDR",
            snapshot("x.pkt: line 5: socket option `REUSEADDR`: expected a name such as TCP_NODELAY"),
        ),
        (
            "+.1 < .",
            "* < .",
            snapshot("x.pkt: line 11: time `*`: expected seconds; `*` is for packets that leave"),
        ),
        (
            "+.1 < .",
            "+1.0000000001 < .",
            snapshot(
                "x.pkt: line 11: time `+1.0000000001`: expected seconds such as `0.1` or `+.1`, at most 9 decimals"
            ),
        ),
        (
            "write(4, ..., 10000) = 10000",
            "write(4, ..., many) = 10000",
            snapshot("x.pkt: line 16: `write` of `many` bytes: expected a whole number as the third argument"),
        ),
        (
            "> P. 1:10001(10000)",
            "> P. 1:10001(9000)",
            snapshot(
                "x.pkt: line 17: `> P. 1:10001(9000) ack 1`: from 1 to 10001 are not 9000 bytes (at most 1000000)"
            ),
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "> P. 1:10001",
            snapshot("x.pkt: line 17: `> P. 1:10001`: expected a TCP segment, for example `> P. 1:1001(1000) ack 1`"),
        ),
        (
            "<sack 3001:4001,nop,nop>",
            "<sack 4001:3001,nop,nop>",
            snapshot("x.pkt: line 20: sack 4001:3001: expected blocks such as `2001:3001`"),
        ),
        (
            OPEN,
            "",
            snapshot("x.pkt: line 5: a segment before the connection is opened: expected SYN first"),
        ),
    ],
)
def test_a_slip_is_refused_with_its_line(old: str, new: str, complaint: str) -> None:
    assert old in LOSS
    assert _refusal(LOSS.replace(old, new)) == complaint


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("listen(3, 1) = 0", "psp_rx_assoc(3, 1) = 0", "line 7: call `psp_rx_assoc`"),
        ("> P. 1:10001(10000) ack 1", "> udp (100)", "line 17: `> udp (100)`: packets of udp"),
        (
            "> P. 1:10001(10000) ack 1",
            "< icmp unreachable [1:1001(1000)]",
            "line 17: `< icmp unreachable [1:1001(1000)]`: packets of icmp",
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "< sctp: INIT[flgs=0]",
            "line 17: `< sctp: INIT[flgs=0]`: packets of sctp",
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "< [1:1001(1000)] icmp unreachable frag_needed mtu 900",
            "line 17: `< [1:1001(1000)] icmp unreachable frag_needed mtu 900`: packets of icmp",
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "< . 1:1(0) ack 1 win 257 {trun tcp 0 4}",
            "line 17: `< . 1:1(0) ack 1 win 257 {trun tcp 0 4}`: packets with changed bytes",
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "< R. 1:1(0) ack 1 win 257",
            "line 17: `< R. 1:1(0) ack 1 win 257`: the built-in transport has no RST and no urgent data",
        ),
        (
            "> P. 1:10001(10000) ack 1",
            "`tc qdisc replace dev tun0 root pfifo limit 0`",
            "line 17: `tc qdisc replace dev tun0 root pfifo limit 0`: packets are held or lost in the sending host",
        ),
        (
            "write(4, ..., 10000)",
            "send(4, ..., 10000, MSG_EOR)",
            "line 16: `send` with MSG_EOR: the built-in transport marks no end of a record",
        ),
        (
            "SO_REUSEADDR",
            "TCP_CORK",
            "line 5: socket option `TCP_CORK`: no such setting of the built-in transport",
        ),
        (
            "< S 0:0(0) win 32792 <",
            "< S 0:10(10) win 32792 <FO 1234,",
            "line 9: `< S 0:10(10) win 32792 <FO 1234,mss 1000,sackOK,nop,nop,n...`: TCP Fast Open",
        ),
    ],
)
def test_what_is_out_of_scope_is_named_with_its_line(old: str, new: str, complaint: str, folder: Path) -> None:
    assert old in LOSS
    assert _refusal(LOSS.replace(old, new, 1)) == f"x.pkt: {complaint}{REFUSED}"
    # After the tested line it ends the script.
    if old.startswith(">"):
        behind = f"{LOSS}   +0 {new}\n   +1 > . 20001:21001(1000) ack 1\n"
        assert _notes(behind) == [complaint.replace("line 17", "line 31") + ENDS]
        assert _result(behind, folder).passed


def test_a_refusal_is_one_line_and_leaves_no_file(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "x.pkt").write_text(LOSS.replace("SO_REUSEADDR", "TCP_CORK"))
    errors = dumbbell("import", "packetdrill", "x.pkt", "--out", "x.txt", expect=2).stderr
    assert len(errors.splitlines()) == 1
    assert errors.startswith("dumbbell: x.pkt: line 5: socket option `TCP_CORK`: ")
    assert not (folder / "x.txt").exists()


def test_a_script_that_tests_nothing_names_why() -> None:
    assert "no connection is opened" in _refusal("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    assert _refusal(f"{OPEN}   +0 < P. 1:1001(1000) ack 1 win 257\n") == snapshot(
        "x.pkt: line 13: data arrive, and no line is about an ACK that leaves: nothing is tested"
    )
