"""Google's test suite of BBR: five scenarios, whose published outcome is qualitative."""

from collections.abc import Callable

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, RowValues, Work

BASE_RTT_MS = 30.0
SHALLOW_REAL = ("--rate", "100mbit", "--rtt", "100ms", "--queue", "0.02bdp", "--flows", "10", "--interval", "0.139")
EMU = ("--backend", "emu", "--runs", "1")
KERNEL = ("--schemes", "kernel-cubic,kernel-bbr")
COEXIST = (*EMU, "--mix", "kernel-cubic+kernel-bbr", "--interval", "2", "--duration", "40", "--warmup", "10")
COEXIST_MIX = "kernel-cubic+kernel-bbr"
DEPTHS = {0.1: "at_0_1", 1.0: "at_1", 8.0: "at_8", 16.0: "at_16"}
Figures = dict[str, dict[str, float]]


def cells(*labels: str) -> tuple[str, str]:
    """Return the option that chooses cells."""
    return "--cell", ",".join(f"nsperf.{label}" for label in labels)


def coexist(runs: Runs) -> Figures:
    """Return BBR's share against CUBIC, by buffer."""
    share = {
        scheme: {name: runs.where(scheme, qlen_bdp=b).mean("flows.1.payload_share") for b, name in DEPTHS.items()}
        for scheme in ("bbr", "bbr3")
    }
    bbr = share["bbr"]
    unfair = {name: max(abs(flow_share - 0.5) for flow_share in share[name].values()) for name in share}
    return {
        "coexist/bbr": bbr | {"fall": bbr["at_1"] - max(bbr["at_8"], bbr["at_16"])},
        "coexist/bbr3": unfair | {"closer": unfair["bbr"] - unfair["bbr3"]},
    }


def random_loss(runs: Runs) -> Figures:
    """Return the throughput by loss on 1 Gbit/s, as a ratio to BBR's at the lowest loss."""

    def ratio(scheme: str, loss: float) -> float:
        goodput = runs.where(scheme, loss_before=loss).mean("flows.0.goodput_mbps")
        return goodput / runs.where("bbr", loss_before=1e-5).mean("flows.0.goodput_mbps")

    return {
        "loss/bbr": {"ratio": ratio("bbr", 0.15)},
        "loss/bbr3": {"at_1": ratio("bbr3", 0.01), "at_5": ratio("bbr3", 0.05)},
        "loss/cubic": {"at_0_001": ratio("cubic", 1e-5), "at_0_1": ratio("cubic", 1e-3)},
    }


def shallow(runs: Runs) -> Figures:
    """Return the losses in a buffer of 0.02 BDP."""
    loss = {
        scheme: max(runs.where(scheme, k=k).mean("network.packet_loss_rate") for k in (10, 100))
        for scheme in ("bbr", "bbr3", "cubic")
    }
    return shallow_rows(loss["bbr"], loss["cubic"]) | {"shallow/bbr3": {"loss": loss["bbr3"]}}


def shallow_rows(bbr: float, cubic: float) -> Figures:
    """Return BBR's losses, and CUBIC's, also as a part of BBR's."""
    return {"shallow/bbr": {"loss": bbr}, "shallow/cubic": {"loss": cubic, "of_bbr": cubic / bbr}}


def queue_bdp(run: Run) -> float:
    """Return the median queueing delay of the first flow, in base RTTs."""
    return (value(run, "flows.0.owd_p50_ms") - BASE_RTT_MS / 2) / BASE_RTT_MS


def bufferbloat(runs: Runs) -> Figures:
    """Return the queue that two flows keep."""
    return {
        f"bufferbloat/{scheme}": {f"in_{b:.0f}": runs.where(scheme, qlen_bdp=b).mean(queue_bdp) for b in (10.0, 100.0)}
        for scheme in ("cubic", "bbr", "bbr3")
    }


def ecn(runs: Runs) -> Figures:
    """Return the queue under marks, compared with DCTCP's."""
    queue = {
        scheme.replace("-", "_"): runs.where(scheme, k=10).mean("links.0.mean_queue_delay_ms")
        for scheme in ("bbr3", "bbr3-ecn", "dctcp")
    }
    return {"ecn": queue | {"ratio": queue["bbr3_ecn"] / queue["dctcp"]}}


SCENARIOS: dict[
    Callable[[Runs], Figures], list[tuple[str, ...]]
] = {  # the runs of each scenario, by the cells and schemes that are needed of them, and what they say
    coexist: [
        ("nsperf-coexist", "--schemes", "bbr,bbr3", *cells(*(f"qlen_bdp-{b:g}" for b in DEPTHS))),
    ],
    random_loss: [
        ("nsperf-random-loss", "--schemes", "bbr", *cells("loss_before-1e-05", "loss_before-0.15")),
        ("nsperf-random-loss", "--schemes", "bbr3", *cells("loss_before-0.01", "loss_before-0.05")),
        ("nsperf-random-loss", "--schemes", "cubic", *cells("loss_before-1e-05", "loss_before-0.001")),
    ],
    shallow: [
        ("nsperf-shallow", *cells("k-10.start_gap_s-0.014", "k-100.start_gap_s-0.014")),
    ],
    bufferbloat: [
        ("nsperf-bufferbloat", *cells("qlen_bdp-10", "qlen_bdp-100")),
    ],
    ecn: [
        ("nsperf-ecn", "--schemes", "bbr3,bbr3-ecn,dctcp", *cells("k-10.start_gap_s-0.005")),
    ],
}


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the figures of all five scenarios."""
    figures_of: list[Figures] = [{} for _ in range(count)]
    for scenario, experiments in SCENARIOS.items():
        runs = [run for words in experiments for run in Runs.of(work.repetitions(*words, count=count)).runs]
        for figures, repetition in zip(figures_of, Runs(tuple(runs)).repetitions(count), strict=True):
            figures |= scenario(repetition)
    return list(figures_of)


def real(work: Work) -> RowValues:
    """Return three scenarios with the kernel's CUBIC and BBR, shorter; shallow buffers at a tenth of the rate."""
    together = Runs.of(work.results("nsperf-coexist", *COEXIST, *cells("qlen_bdp-1", "qlen_bdp-16")))
    one_bdp, deep = (together.where(COEXIST_MIX, qlen_bdp=b).mean("flows.1.payload_share") for b in (1.0, 16.0))
    lossy = Runs.of(work.results("--duration", "20", *EMU, *KERNEL, *SHALLOW_REAL))
    bbr, cubic = (lossy.where(f"kernel-{name}").mean("network.packet_loss_rate") for name in ("bbr", "cubic"))
    words = (*EMU, *KERNEL, *cells("qlen_bdp-10"), "--duration", "30", "--warmup", "10")
    bloat = Runs.of(work.results("nsperf-bufferbloat", *words))
    return {
        "coexist/bbr": {"at_1": one_bdp, "at_16": deep, "fall": one_bdp - deep},
        **shallow_rows(bbr, cubic),
        **{
            f"bufferbloat/{name}": {"in_10": bloat.where(f"kernel-{name}").mean(queue_bdp)} for name in ("cubic", "bbr")
        },
    }


CHECK = Check("R13", "r13_nsperf", simulate, real)
