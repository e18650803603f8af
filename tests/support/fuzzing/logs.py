"""Fuzzing targets of other tools' logs, and valid logs."""

import bz2
import gzip
import json
import lzma
import math
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

import dumbbell
from dumbbell_reproduce.mahimahi_command import read_command, read_head
from support.fuzzing.given import Target, join_files, results, split_files, write_content
from support.inputs.captures import ETHERNET, MS, RAW, SLL2, frame_bytes, quic, transfer, write_pcap, write_pcapng
from support.inputs.flent_results import flent_result
from support.inputs.iperf_texts import IPERF_TEXTS
from support.inputs.netlogs import netlog, netlog_events
from support.inputs.nuttcp_texts import NUTTCP_TEXTS
from support.inputs.ss_logs import SS_FORMS, ss_log
from support.inputs.transfer_logs import REPORT, SS_LOG, events

PANTHEON = [
    "pantheon_metadata.json",
    "pantheon_perf.json",
    *(f"reno_{kind}_run{run}.log" for run in (1, 2) for kind in ("datalink", "acklink", "stats")),
]


def _pantheon(folder: Path) -> list[bytes]:
    dumbbell.export_pantheon(results(folder), folder / "pantheon")
    files = {name: (folder / "pantheon" / name).read_bytes() for name in PANTHEON}
    short = {name: b"".join(content.splitlines(keepends=True)[:60]) for name, content in files.items()}
    without_logs = {name: content for name, content in files.items() if name.endswith(".json")}
    return [join_files(short), join_files(without_logs)] + [
        join_files(short | {name: files[name]}) for name in PANTHEON[:4]
    ]


def _give_pantheon(content: bytes, folder: Path) -> None:
    split_files(content, PANTHEON, folder / "given")
    dumbbell.import_results("pantheon", folder / "given", folder / "out")


def _mahimahi(folder: Path) -> list[bytes]:
    dumbbell.export_pantheon(results(folder), folder / "mahimahi")
    lines = (folder / "mahimahi" / "reno_datalink_run1.log").read_bytes().splitlines(keepends=True)
    whole_ms_lines = [re.sub(rb"(\d+)\.\d+", rb"\1", line).removesuffix(b" 1\n") + b"\n" for line in lines[1:]]
    return [b"".join([HEAD, *whole_ms_lines]), b"".join([HEAD, *whole_ms_lines[:20]])]


HEAD = b"# mahimahi mm-link (Uplink) [12mbps.trace]\n# init timestamp: 1514764800123\n# base timestamp: 0\n"
"""First lines of a log of mm-link."""


def _give_mahimahi(content: bytes, folder: Path) -> None:
    dumbbell.import_results("mahimahi", write_content(content, folder / "given.log"), folder / "out")


def _link_heads(_: Path) -> list[bytes]:
    words = "'mm-link' 'up' 'down' '--uplink-queue=codel' '--uplink-queue-args=\"target=512,interval=100,packets=9\"'"
    head = ["# mahimahi mm-link (Uplink) [traces/12mbps.trace] > log", f"# command line: {words} 'sh'"]
    head += ["# queue: codel [packets=9]", "# init timestamp: 1", "# mahimahi config: [delay 5 ms] ", "1 # 1504"]
    return ["\n".join(head).encode(), "\n".join(head[2:]).encode(), HEAD]


def _give_link_head(content: bytes, _: Path) -> None:
    metadata = {"extra_mm_link_args": "--uplink-queue=droptail --uplink-queue-args=packets=5"}
    command = read_command(metadata, "metadata")
    for ack in (False, True):
        command.with_heads({ack: read_head(content.decode(errors="replace"), "given", ack=ack)})


def _qlogs(folder: Path) -> list[bytes]:
    logs = []
    for draft in ("0.3", "quic-13"):
        files, *_ = dumbbell.export_qlog(results(folder), folder / f"qlog-{draft}", draft=draft)
        for file in files:
            lines = file.read_bytes().splitlines(keepends=True)
            logs += [b"".join(lines[:count]) for count in (20, 200)]
    return [*logs, json.dumps(QLOG_OF_TWO_PATHS).encode()]


QLOG_OF_TWO_PATHS = {
    "qlog_version": "0.3",
    "traces": [
        {"error_description": "gone"},
        {
            "common_fields": {"time_format": "delta"},
            "events": [
                *(
                    {
                        "time": 5,
                        "name": "transport:packet_sent",
                        "data": {"path_id": path, "header": {"packet_number": 3}},
                    }
                    for path in (0, 1)
                ),
                *(
                    {
                        "time": 5,
                        "name": "transport:packet_received",
                        "data": {"frames": [{"frame_type": "path_ack", "path_id": path, "acked_ranges": [[3, 3]]}]},
                    }
                    for path in (0, 1)
                ),
                {"time": 5, "name": "recovery:packet_lost", "data": {}},
            ],
        },
    ],
}
"""Qlog of a multipath connection, in which one trace is missing."""


def _give_qlog(content: bytes, folder: Path) -> None:
    suffix = ".sqlog" if b"\x1e" in content[:9] else ".qlog"
    dumbbell.import_results("qlog", write_content(content, folder / f"given{suffix}"), folder / "out")


def _captures(folder: Path) -> list[bytes]:
    """Return a capture of every format, captures of one end, and of both ends."""
    forms = ((write_pcap, ETHERNET, transfer(0)), (write_pcapng, SLL2, transfer(0, version=6)))
    forms += ((write_pcap, RAW, quic(30, 0, 10 * MS)), (write_pcap, RAW, transfer(20 * MS)))
    captures = []
    for writer, link, packets in forms:
        file = writer(folder / "made.pcap", [(at_ns, frame_bytes(data, link)) for at_ns, data in packets], link)
        captures.append(file.read_bytes())
    return [*captures, join_files(dict(zip(ENDS, (captures[0], captures[3]), strict=True)))]


ENDS = ["sender.pcap", "receiver.pcap"]


def _give_capture(content: bytes, folder: Path) -> None:
    split_files(content, ENDS, folder / "given")
    sender, receiver = (folder / "given" / name for name in ENDS)
    if sender.exists() and receiver.exists():
        _read(lambda: dumbbell.import_results("pcap", sender, folder / "out", receiver=receiver))
    else:
        file = write_content(content, folder / "given.pcap")
        _read(lambda: dumbbell.import_results("pcap", file, folder / "out"))


def _reports(_: Path) -> list[bytes]:
    report = json.dumps(REPORT)
    several = f"a warning\n{report}{json.dumps(REPORT | {'error': 'interrupted'})}\n{events()}"
    return [report.encode(), events().encode(), several.encode(), several.encode("utf-16")]


def _give_report(content: bytes, folder: Path) -> None:
    _read(lambda: dumbbell.import_results("iperf3", write_content(content, folder / "given.json"), folder / "out"))


def _compressed_samples(_: Path) -> list[bytes]:
    plain = json.dumps(REPORT).encode()
    samples = [pack(plain) for pack in (gzip.compress, bz2.compress, lzma.compress)]
    return [*samples, bytes(pa.compress(plain, codec="zstd", asbytes=True)), gzip.compress(samples[0], mtime=0), plain]


def _logs_of_ss(_: Path) -> list[bytes]:
    return [SS_LOG.encode(), *(ss_log(form, range(4)).encode() for form in SS_FORMS.values())]


def _give_ss(content: bytes, folder: Path) -> None:
    _read(lambda: dumbbell.import_results("ss", write_content(content, folder / "given.log"), folder / "out"))


def _give_flent(content: bytes, folder: Path) -> None:
    _read(lambda: dumbbell.import_results("flent", write_content(content, folder / "given.flent"), folder / "out"))


def _give_iperf_text(content: bytes, folder: Path) -> None:
    _read(lambda: dumbbell.import_results("iperf", write_content(content, folder / "given.txt"), folder / "out"))


def _give_nuttcp(content: bytes, folder: Path) -> None:
    _read(lambda: dumbbell.import_results("nuttcp", write_content(content, folder / "given.txt"), folder / "out"))


def _give_netlog(content: bytes, folder: Path) -> None:
    _read(lambda: dumbbell.import_results("netlog", write_content(content, folder / "given.json"), folder / "out"))


def _netlogs(_: Path) -> list[bytes]:
    lines = netlog().splitlines(keepends=True)
    text = json.dumps({"constants": json.loads(lines[0][:-2] + "}")["constants"], "events": netlog_events()})
    return ["".join(lines).encode(), "".join(lines[:80]).encode(), text.encode()]


def _flent_results(_: Path) -> list[bytes]:
    content = json.dumps(flent_result()).encode()
    without_raw = json.dumps(flent_result() | {"raw_values": {}}).encode()
    return [content, gzip.compress(content, mtime=0), without_raw]


def _read(give: Callable[[], dumbbell.Results]) -> None:
    """Check that an error names the file, or that the results can be measured."""
    try:
        read = give()
    except dumbbell.Error as error:
        if "given" not in str(error):
            raise AssertionError("the file is not named") from error
        raise
    for run in read.as_json()["runs"]:
        for flow in run.get("flows", []):
            wrong = [name for name, value in flow.items() if isinstance(value, float) and not math.isfinite(value)]
            assert not wrong, wrong


LOGS = (
    Target("pantheon", _pantheon, _give_pantheon),
    Target("mahimahi", _mahimahi, _give_mahimahi),
    Target("link-head", _link_heads, _give_link_head),
    Target("qlog", _qlogs, _give_qlog),
    Target("pcap", _captures, _give_capture),
    Target("iperf3", _reports, _give_report),
    Target("compressed", _compressed_samples, _give_report),
    Target("iperf", lambda _: [text.encode() for text in IPERF_TEXTS], _give_iperf_text),
    Target("netlog", _netlogs, _give_netlog),
    Target("nuttcp", lambda _: [text.encode() for text in NUTTCP_TEXTS], _give_nuttcp),
    Target("flent", _flent_results, _give_flent),
    Target("ss", _logs_of_ss, _give_ss),
)
