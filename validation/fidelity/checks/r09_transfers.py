"""Transfer report of the LEDBAT benchmark: single and parallel, at both ends, in the layout of iperf 2."""

from collections import defaultdict
from pathlib import Path

import dumbbell
from validation.fidelity.published_check import Check, RowValues, Work

# iperf 2.0.5, src/Locale.c: report_bw_header, report_bw_format and report_sum_bw_format
HEADER = "[ ID] Interval       Transfer     Bandwidth"
FORMATS = {False: "[%3d] %4.1f-%4.1f sec  %ss  %ss/sec", True: "[SUM] %4.1f-%4.1f sec  %ss  %ss/sec"}
LENGTH = ("--duration", "10")
SIMULATED = (
    "--backend",
    "sim",
    "--schemes",
    "ledbat,libutp-ledbat,cubic",
    "--mix",
    "ledbat*2",
    "--mix",
    "cubic*2",
    *LENGTH,
)
REAL = (
    "--schemes",
    "bpf-ledbat,libutp",
    "--mix",
    "bpf-ledbat*2",
    "--path",
    "same-zone-1000,europe-asia-1000",
    *LENGTH,
)
INTERVAL_S = 1.0


def amount(payload_bytes: int, seconds: float = 1.0) -> str:
    """Return KBytes in the format of iperf's `byte_snprintf`, computed from the bytes."""
    kbytes = payload_bytes / 1024 / seconds
    form = "%4.2f" if kbytes < 9.995 else "%4.1f" if kbytes < 99.95 else "%4.0f"
    return form % kbytes + " KByte"


def wrong_lines(transfers: dumbbell.Transfers, view: str) -> int:
    """Return the number of lines that differ from iperf's formats of the same bytes; the sums are added up here."""
    expected_lines = [HEADER]
    for total in (False, True):
        flows: dict[tuple[float, float], dict[int, int]] = defaultdict(dict)
        for row in transfers.of(view, total=total):
            if row.flow is not None:
                flows[row.start_s, row.end_s][row.flow] = row.bytes
        for (start, end), parts in flows.items():
            for flow, part in parts.items():
                expected_lines.append(FORMATS[False] % (flow, start, end, amount(part), amount(part, end - start)))
            if len(parts) > 1:
                total_bytes = sum(parts.values())
                expected_lines.append(
                    FORMATS[True] % (start, end, amount(total_bytes), amount(total_bytes, end - start))
                )
    lines = transfers.text(view).splitlines()
    return abs(len(lines) - len(expected_lines)) + sum(
        line != expected_line for line, expected_line in zip(lines, expected_lines, strict=False)
    )


def totals(directory: Path) -> tuple[int, int, int, dict[tuple[str, str], float]]:
    """Return the lines, the wrong ones, the runs with differing ends, and the server's total per run in KBytes/s."""
    lines = wrong = apart = 0
    rates = {}
    for run in dumbbell.open(directory).runs:
        transfers = run.transfers(INTERVAL_S)
        if transfers is None:
            continue
        for view in transfers.VIEWS:
            lines += transfers.text(view).count("\n") + 1
            wrong += wrong_lines(transfers, view)
        client, server = (transfers.of(view, total=True)[-1] for view in transfers.VIEWS)
        apart += not server.bytes <= client.bytes
        rates[run.path, run.scheme] = server.kbytes_per_s
    return lines, wrong, apart, rates


def measure(directory: Path, names: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return the errors of the layout, and the transferred bytes of schemes, under their names in the claim."""
    lines, wrong, apart, rates = totals(directory)
    return {"lines": {"wrong": wrong, "lines": lines}, "ends": {"runs": apart}} | {
        f"{path}/{name}": {"total": rates[path, scheme]}
        for path in ("same-zone-1000", "europe-asia-1000")
        for name, scheme in names.items()
    }


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the layout's errors and the transferred bytes: the published run measured no LEDBAT (R8)."""
    directory = work.repetitions("ledbat-transfer", *SIMULATED, count=1)
    return [measure(directory, {name: name for name in ("ledbat", "ledbat*2", "libutp-ledbat", "cubic")})] * count


def real(work: Work) -> RowValues:
    """Return the values with a BPF controller and with libutp."""
    names = {"ledbat": "bpf-ledbat", "ledbat*2": "bpf-ledbat*2", "libutp-ledbat": "libutp"}
    return measure(work.results("ledbat-transfer", *REAL), names)


CHECK = Check("R9", "r09_transfers", simulate, real)
