"""Files of a small Pantheon run, made by hand."""

from typing import Any

DATA_LOG = """# init timestamp: 1514764800123.000
0.000 # 1500
1.000 + 1500 1
2.500 + 500 1
31.000 - 1500 30.000 1
32.000 # 1500
41.000 - 500 38.500 1
1000.000 + 1500 1
1030.000 - 1500 30.000 1
"""
ACK_LOG = """# init timestamp: 1514764800133.000
31.500 + 88 1
51.500 - 88 20.000 1
"""
STATS = "Start at: 2018-01-01 00:00:00\nEnd at: 2018-01-01 00:00:01\nLocal clock offset: 1.85 ms\n"
METADATA: dict[str, Any] = {
    "cc_schemes": ["cubic"],
    "flows": 1,
    "git_summary": "branch: master @ 0123\n",
    "interval": 0,
    "mode": "local",
    "random_order": True,
    "run_times": 1,
    "runtime": 1,
    "start_run_id": 1,
    "uplink_trace": "12mbps.trace",
    "downlink_trace": "12mbps.trace",
    "prepend_mm_cmds": "mm-delay 10",
}
