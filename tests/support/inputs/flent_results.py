"""Result of flent by hand: an upload with TCP_INFO, a download and a ping."""

from typing import Any

START_S = 1_700_000_000.0


def flent_result() -> dict[str, Any]:
    """Return a result: uploads of 8 Mbit/s and downloads of 4 Mbit/s for 2 s; pings of 40 ms begin 1 s earlier."""
    up = [{"t": START_S + 1.5 + 0.5 * index, "dur": 0.5, "val": 8.0} for index in range(4)]
    info = [
        {"t": START_S + 1.2 + index, "tcp_cwnd": 20 + 10 * index, "tcp_rtt": 50.0 + 10 * index, "tcp_rtt_var": 5.0}
        for index in range(2)
    ]
    down = [{"t": START_S + 1.5 + 0.5 * index, "dur": 0.5, "val": 4.0} for index in range(4)]
    pings = [{"t": START_S + 0.5 * index, "seq": float(index), "val": 40.0} for index in range(6)]
    times = [0.5 * index for index in range(7)]
    return {
        "version": 4,
        "metadata": {
            "NAME": "tcp_bidirectional",
            "TITLE": "a test",
            "FLENT_VERSION": "2.1.1",
            "T0": "2023-11-14T22:13:20.000000Z",
            "SERIES_META": {
                "TCP upload": {
                    "UNITS": "Mbits/s",
                    "MEAN_VALUE": 7.9,
                    "BYTES_RECVD": 1_980_000,
                    "ELAPSED_TIME": 2.0,
                    "TCP_MSS": 1000,
                    "TCP_RETRANSMIT": "7",
                    "CONG_CONTROL": "cubic",
                    "RUNNER": "NetperfDemoRunner",
                },
                "TCP download": {"UNITS": "Mbits/s", "MEAN_VALUE": 3.9, "TCP_RETRANSMIT": 0},
                "Ping (ms) ICMP": {"UNITS": "ms"},
                "TCP totals": {"UNITS": "Mbits/s", "RUNNER": "SumRunner"},
            },
        },
        "x_values": times,
        "raw_values": {"TCP upload": [*up, *info], "TCP download": down, "Ping (ms) ICMP": pings},
        "results": {
            "TCP upload": [None, None, 8.0, 8.0, 8.0, 8.0, None],
            "TCP upload::tcp_cwnd": [None, None, 20.0, 24.0, 30.0, None, None],
            "TCP upload::tcp_rtt": [None, None, 50.0, 54.0, 60.0, None, None],
            "TCP download": [None, None, 4.0, 4.0, 4.0, 4.0, None],
            "TCP totals": [None, None, 12.0, 12.0, 12.0, 12.0, None],
            "Ping (ms) ICMP": [40.0] * 6 + [None],
            "cpu_stats_localhost::load": [0.1] * 7,
        },
    }
