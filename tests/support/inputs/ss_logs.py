"""Logs of `ss -ti` in the formats that people record: one connection of 1 Mbit/s for 1.9 s."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

START_S = 1_700_000_000
SS_COUNT = 20
SS_NAMES = "ESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201"
SS_HEADER = "State Recv-Q Send-Q Local Address:Port Peer Address:Port"


def info(number: int, more: int = 0) -> str:
    """Return TCP_INFO of the connection: 12,500 bytes in each 0.1 s are 1 Mbit/s."""
    return (
        f"\t cubic wscale:7,7 rto:240 rtt:40.{number % 10}/0.5 mss:1448 cwnd:{10 + number} ssthresh:30 "
        f"bytes_acked:{1 + more + number * 12_500} segs_out:{number * 9} send 2.9Mbps pacing_rate 3.5Mbps/9Mbps "
        f"unacked:{5 + number} retrans:0/{number // 5} rcv_space:29200 minrtt:39.9"
    )


def epoch(number: int, digits: int = 3) -> str:
    return f"{START_S + number * 0.1:.{digits}f}"


def date(form: str) -> Callable[[int], str]:
    return lambda number: (datetime.fromtimestamp(START_S, UTC) + timedelta(seconds=number * 0.1)).strftime(form)


def block(stamp: Callable[[int], str]) -> Callable[[int], str]:
    """Return a function that puts a time on a line of its own before the output of `ss`."""
    return lambda number: f"{stamp(number)}\n{SS_HEADER}\n{SS_NAMES}\n{info(number)}\n"


def one_line(stamp: Callable[[int], str]) -> Callable[[int], str]:
    return lambda number: f"{stamp(number)} {SS_NAMES} {info(number)}\n"


SS_FORMS: dict[str, Callable[[int], str]] = {
    "epoch": block(epoch),
    "epoch-ms": block(lambda number: str(START_S * 1000 + number * 100)),
    "epoch-us": block(lambda number: str(START_S * 1_000_000 + number * 100_000)),
    "epoch-ns": block(lambda number: str(START_S * 1_000_000_000 + number * 100_000_000)),
    "epoch-comma": block(lambda number: f"# {epoch(number, 9).replace('.', ',')}"),
    "iso": block(date("%Y-%m-%dT%H:%M:%S,%f+00:00")),
    "iso-seconds": block(date("[%Y-%m-%d %H:%M:%S]")),
    "compact": block(date("%Y%m%dT%H%M%S.%fZ")),
    "rfc-2822": block(date("%a, %d %b %Y %H:%M:%S +0000")),
    "date": block(date("%a %b %d %H:%M:%S UTC %Y")),
    "date-half-days": block(date("%a %d %b %Y %I:%M:%S %p UTC")),
    "date-decorated": block(date("=== %a %b %e %H:%M:%S UTC %Y ===")),
    "clock": block(date("%H:%M:%S.%f")),
    "flent": block(lambda number: f"Time: {epoch(number, 9)}"),
    # flent's own loop writes the time after the output.
    "flent-behind": lambda number: f"{SS_HEADER}\n{SS_NAMES}\n{info(number)}\n\nTime: {epoch(number, 9)}\n---\n",
    "behind": lambda number: f"{SS_NAMES}\n{info(number)} {epoch(number)}\n",
    "behind-date": lambda number: f"{SS_NAMES} {info(number)} {date('%a %b %d %H:%M:%S UTC %Y')(number)}\n",
    "behind-clock": lambda number: f"{SS_NAMES}\n{info(number)} {date('%H:%M:%S.%f')(number)}\n",
    "one-line": one_line(epoch),
    "one-line-ts": one_line(date("%b %d %H:%M:%S")),
    "one-line-elapsed": one_line(lambda number: f"00:00:{number * 0.1:09.6f}"),
    "one-line-elapsed-seconds": one_line(lambda number: f"{number * 0.1:.6f}"),
    "ts-before-every-line": lambda number: (
        f'{epoch(number, 6)} tcp {SS_NAMES} users:(("iperf3",pid=1,fd=4)) timer:(on,1ms,0) uid:0 ino:1 sk:7 <->\n'
        f"{START_S + number * 0.1 + 2e-4:.6f} {info(number)}\n"
    ),
    "watch": lambda number: (
        f"Every 0.1s: ss -tin dst 10.0.0.2      host: {date('%a %b %d %H:%M:%S %Y')(number)}\n\n"
        f"{SS_HEADER}\n{SS_NAMES}\n{info(number)}\n"
    ),
    "watch-without-time": lambda number: (
        f"Every 0.1s: ss -tin dst 10.0.0.2\n\n{SS_HEADER}\n{SS_NAMES}\n{info(number)}\n"
    ),
    "no-addresses": lambda number: f"{epoch(number)} {info(number)}\n",
    "no-addresses-behind": lambda number: f" \n{info(number)} {date('%H:%M:%S.%f')(number)} \n",
    "host-names": lambda number: (
        f"{epoch(number)}\nESTAB 0 0 host.example.org:cwnd server:targus-getdata1\n{info(number)}\n"
    ),
    "no-state": lambda number: f"{epoch(number)}\n0 0 10.0.0.1:40000 10.0.0.2:5201\n{info(number)}\n",
    "mapped": lambda number: f"{epoch(number)}\nESTAB 0 0 ::ffff:10.0.0.1:443 ::ffff:10.0.0.2:50\n{info(number)}\n",
    "listeners": lambda number: (
        f"{epoch(number)}\nLISTEN 0 128 *:22 *:*\n\t cubic rto:1000 mss:536 cwnd:10\n{SS_NAMES}\n"
        f"\t skmem:(r0,rb13,t0)\n{info(number)}\n"
    ),
    "wrapped": lambda number: (
        (
            f"{epoch(number)}\n{SS_NAMES}\n"
            + info(number).replace(" bytes_acked", "\n  bytes_acked").replace(" re", "\n  re")
        )
        + "\n"
    ),
    "coloured": lambda number: f"{epoch(number)}\n\x1b[1m{SS_NAMES}\x1b[0m\n{info(number)}\n",
}


def ss_log(form: Callable[[int], str], numbers: range = range(SS_COUNT)) -> str:
    return "".join(form(number) for number in numbers)
