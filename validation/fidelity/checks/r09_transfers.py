"""The transfer report of the LEDBAT benchmark: single and parallel, seen from both ends, in the layout of iperf 2."""

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import dumbbell
from validation.fidelity.published_check import Check, Failed, Row, Work

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
    """KBytes as iperf's `byte_snprintf` writes them, from the bytes themselves."""
    kbytes = payload_bytes / 1024 / seconds
    form = "%4.2f" if kbytes < 9.995 else "%4.1f" if kbytes < 99.95 else "%4.0f"
    return form % kbytes + " KByte"


def wrong_lines(transfers: dumbbell.Transfers, view: str) -> int:
    """Lines that differ from what iperf's formats make of the same bytes, sums added up here."""
    wanted = [HEADER]
    for total in (False, True):
        flows: dict[tuple[float, float], dict[int, int]] = defaultdict(dict)
        for row in transfers.of(view, total=total):
            if row.flow is not None:
                flows[row.start_s, row.end_s][row.flow] = row.bytes
        for (start, end), parts in flows.items():
            for flow, part in parts.items():
                wanted.append(FORMATS[False] % (flow, start, end, amount(part), amount(part, end - start)))
            if len(parts) > 1:
                whole = sum(parts.values())
                wanted.append(FORMATS[True] % (start, end, amount(whole), amount(whole, end - start)))
    given = transfers.text(view).splitlines()
    return abs(len(given) - len(wanted)) + sum(mine != theirs for mine, theirs in zip(given, wanted, strict=False))


def totals(directory: Path) -> tuple[int, int, int, dict[tuple[str, str], float]]:
    """Lines, wrong ones, runs whose ends disagree, and the server's total of each run in KBytes/s."""
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


def run(work: Work) -> list[Row]:
    """The layout is judged; what was transferred is shown: the published run measured no LEDBAT (R8)."""
    found = [totals(work.results("ledbat-transfer", *SIMULATED))]
    if work.emulate:
        # A kernel that takes no controllers in BPF has none of it.
        with suppress(Failed):
            found.append(totals(work.results("ledbat-transfer", *REAL)))
    rows = [
        Row(
            "lines that iperf's own formats do not give: rows, [SUM], totals, both views",
            "0",
            "0",
            *(f"{wrong} of {lines}" for lines, wrong, _, _ in found),
            passed=all(lines > 100 and wrong == 0 for lines, wrong, _, _ in found),
        ),
        Row(
            "runs in which the server has more than the client",
            "0",
            "0",
            *(str(apart) for _, _, apart, _ in found),
            passed=all(apart == 0 for _, _, apart, _ in found),
        ),
    ]
    for path in ("same-zone-1000", "europe-asia-1000"):
        for ours, real, what in (
            ("ledbat", "bpf-ledbat", "LEDBAT (kernel: BPF)"),
            ("ledbat*2", "bpf-ledbat*2", "two LEDBAT, [SUM]"),
            ("libutp-ledbat", "libutp", "libutp"),
            ("cubic", "", "CUBIC"),
        ):
            names = (ours, real)[: len(found)]
            texts = [f"{rates[path, name]:.0f}" if name else "" for name, (*_, rates) in zip(names, found, strict=True)]
            rows.append(Row(f"{path}: {what}, total as the server sees it, KBytes/s", "-", "shown", *texts))
    return rows


CHECK = Check(
    id="R9",
    title="LEDBAT transfers in iperf's layout, single and parallel, both views",
    source="Task 5 - Custom Network, KTH; iperf 2.0.5, `src/Locale.c`; [LEDBAT](papers/ledbat.md)",
    commands=("dumbbell run ledbat-transfer", "dumbbell show RESULTS --intervals"),
    run=run,
)
