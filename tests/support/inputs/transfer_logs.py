"""Report of iperf3 and log of ss, by hand."""

import json
from typing import Any


def interval(begin: float, end: float, count: int, **more: float) -> dict[str, Any]:
    part = {"socket": 5, "start": begin, "end": end, "bytes": count, "omitted": False, "sender": True} | more
    return {"streams": [part], "sum": {}}


REPORT: dict[str, Any] = {
    "start": {"version": "iperf 3.18", "connected": [{"socket": 5}], "test_start": {"protocol": "TCP", "reverse": 0}},
    "intervals": [
        interval(0, 1, 1_000_000, retransmits=2, rtt=20_000, snd_cwnd=10_000),
        interval(1, 2, 3_000_000, retransmits=5, rtt=40_000, snd_cwnd=30_000),
        interval(2, 4, 4_000_000, retransmits=0, rtt=60_000, snd_cwnd=50_000),
    ],
    "end": {"streams": [{"sender": {"socket": 5, "bytes": 8_000_000}, "receiver": {"socket": 5, "bytes": 7_500_000}}]},
}


def events() -> str:
    """Return the report as lines of events (`--json-stream`)."""
    entries = [
        ("start", REPORT["start"]),
        *(("interval", entry) for entry in REPORT["intervals"]),
        ("end", REPORT["end"]),
    ]
    return "".join(json.dumps({"event": name, "data": data}) + "\n" for name, data in entries)


def ss_lines(stamp: str, acked_bytes: int, retrans: str = "", more: str = "") -> str:
    return (
        f"{stamp}\nState Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        f"ESTAB 0      99        10.0.0.1:5000     10.0.0.2:6000\n"
        f"\t cubic rto:204 rtt:{20 + acked_bytes / 1e6}/2.5 mss:1000 pmtu:1500 cwnd:10 ssthresh:7 "
        f"bytes_sent:{acked_bytes} bytes_acked:{acked_bytes} "
        f"send 4Mbps pacing_rate 4.8Mbps delivery_rate 950Kbps {more} {retrans} minrtt:20\n"
    )


SS_LOG = (
    ss_lines("1700000000.5", 1_000_000, "retrans:0/3")
    + ss_lines("1700000001.5", 2_000_000, "retrans:1/10", "unacked:8 sacked:2 lost:1")
    + ss_lines("1700000004.5", 5_000_000, "retrans:0/10")
)
