"""LEDBAT: promises of RFC 6817, measurements of it, and the corrections of LEDBAT++."""

from validation.fidelity.measured import Runs, value
from validation.fidelity.published_check import Check, RowValues, Work

LINK_MBPS = 10.0
TOGETHER = (  # what is needed of the experiment's five paths
    ("--schemes", "ledbat", "--mix", "reno+ledbat", "--path", "two-targets,half-target,codel"),
    ("--schemes", "ledbat,cubic", "--mix", "ledbat*2", "--path", "deep"),
    (*("--schemes", "ledbat", "--mix", "reno+ledbat-25ms", "--mix", "cubic+ledbat-plus-plus"), "--path", "100-packets"),
)
LATE = ("--schemes", "ledbat", "--mix", "ledbat*2", "--mix", "ledbat-plus-plus*2", "--interval", "10", "--path", "deep")


def queue_ms(runs: Runs, path: str, scheme: str) -> float:
    """Return the mean delay of the first flow above its minimum, ms."""
    return runs.where(scheme, path=path).mean("flows.0.self_inflicted_delay_mean_ms")


def share(runs: Runs, path: str, mix: str) -> float:
    """Return the first flow's share of the goodput of both flows."""
    first, second = (runs.where(mix, path=path).mean(f"flows.{flow}.goodput_mbps") for flow in (0, 1))
    return first / (first + second)


def ratio(runs: Runs, path: str, mix: str) -> dict[str, float]:
    """Return the second flow's goodput as a multiple of the first one's."""
    first = share(runs, path, mix)
    return {"ratio": (1.0 - first) / first}


def measure(together: Runs, late: Runs) -> RowValues:
    """Return L1 to L8: shares and delays from 60 to 200 s."""
    alone, deep = together.where("ledbat"), together.where(path="deep")
    use = alone.where(path="two-targets").mean(lambda run: value(run, "links.0.throughput_mbps") / LINK_MBPS)
    return {
        "L1/queue": {"ms": queue_ms(together, "two-targets", "ledbat")},
        "L1/use": {"use": use},
        "L2/25ms": {"share": share(together, "100-packets", "reno+ledbat-25ms")},
        "L2/100ms": {"share": share(together, "two-targets", "reno+ledbat")},
        "L3": ratio(late, "deep", "ledbat*2"),
        "L4": ratio(together, "deep", "ledbat*2"),
        "L5/drops": {"packets": alone.where(path="half-target").mean("flows.0.packets_dropped")},
        "L5/share": {"share": 1.0 - share(together, "half-target", "reno+ledbat")},
        "L6": {"share": 1.0 - share(together, "codel", "reno+ledbat")},
        "L7/late": ratio(late, "deep", "ledbat-plus-plus*2"),
        "L7/cubic": {"share": share(together, "100-packets", "cubic+ledbat-plus-plus")},
        "L8/queue": {"ms": queue_ms(together, "deep", "ledbat")},
        "L8/cubic": {"ms": deep.where("cubic").mean("links.0.max_queue_delay_ms")},
    }


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the values with both flows started at once, and with the second one 10 s later."""
    parts = (work.repetitions("ledbat-evaluation", *words, count=count) for words in TOGETHER)
    together = Runs(tuple(run for part in parts for run in Runs.of(part).runs))
    late = Runs.of(work.repetitions("ledbat-evaluation", *LATE, count=count))
    pairs = zip(together.repetitions(count), late.repetitions(count), strict=True)
    return [measure(*pair) for pair in pairs]


CHECK = Check("R10", "r10_ledbat", simulate)
