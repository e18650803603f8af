"""Google's test suite of BBR: five scenarios, whose published outcome is qualitative."""

from validation.fidelity.measured import Run, Runs, value
from validation.fidelity.published_check import Check, Row, Work

SHALLOW_REAL = ("--rate", "100mbit", "--rtt", "100ms", "--queue", "0.02bdp", "--flows", "10", "--interval", "0.139")
EMU = ("--backend", "emu", "--runs", "1")
KERNEL = ("--schemes", "kernel-cubic,kernel-bbr")
COEXIST = (*EMU, "--mix", "kernel-cubic+kernel-bbr", "--interval", "2", "--duration", "40", "--warmup", "10")
COEXIST_MIX = "kernel-cubic+kernel-bbr"


def coexist(work: Work) -> list[Row]:
    """BBR's share beside CUBIC, over buffers."""
    runs = Runs.of(work.results("nsperf-coexist"))
    share = {
        scheme: {b: runs.where(scheme, qlen_bdp=b).mean("flows.1.payload_share") for b in (0.1, 1.0, 8.0, 16.0)}
        for scheme in ("bbr", "bbr3")
    }
    bbr, bbr3 = share["bbr"], share["bbr3"]
    real, real_good = "", True
    if work.emulate:
        cells = ("--cell", "nsperf.qlen_bdp-1,nsperf.qlen_bdp-16")
        kernel = Runs.of(work.results("nsperf-coexist", *COEXIST, *cells))
        one, deep = (kernel.where(COEXIST_MIX, qlen_bdp=b).mean("flows.1.payload_share") for b in (1.0, 16.0))
        real, real_good = f"{one:.0%} at 1 BDP, {deep:.0%} at 16", one > 0.5 and deep < one
    unfair = {name: max(abs(one - 0.5) for one in share[name].values()) for name in share}
    return [
        Row(
            "coexist: BBR's share beside one CUBIC flow",
            "dominates up to 1 or 2 BDP, loses share as the buffer grows",
            "> 50 % up to 1 BDP, less at 8 and 16 than at 1",
            f"{bbr[0.1]:.0%} at 0.1 BDP, {bbr[1.0]:.0%} at 1, {bbr[8.0]:.0%} at 8, {bbr[16.0]:.0%} at 16",
            real,
            passed=min(bbr[0.1], bbr[1.0]) > 0.5 and max(bbr[8.0], bbr[16.0]) < bbr[1.0] and real_good,
        ),
        Row(
            "coexist: BBRv3's largest distance from the fair half, beside BBR's",
            "closer to fair",
            "smaller",
            f"{unfair['bbr3']:.0%}, {unfair['bbr']:.0%} ({bbr3[1.0]:.0%} at 1 BDP)",
            passed=unfair["bbr3"] < unfair["bbr"],
        ),
    ]


def random_loss(work: Work) -> list[Row]:
    """Throughput over loss on 1 Gbit/s."""
    runs = Runs.of(work.results("nsperf-random-loss"))

    def goodput(scheme: str, loss: float) -> float:
        return runs.where(scheme, loss_before=loss).mean("flows.0.goodput_mbps")

    def ratio(scheme: str, loss: float) -> float:
        return goodput(scheme, loss) / goodput("bbr", 1e-5)

    return [
        Row(
            "random loss: BBR at 15 %, of what it has at 0.001 %",
            "flat to 15 to 20 %",
            ">= 75 % ((1 - p) is 85 %)",
            f"{ratio('bbr', 0.15):.0%}",
            passed=ratio("bbr", 0.15) >= 0.75,
        ),
        Row(
            "random loss: BBRv3 at 1 %, and at 5 %",
            "flat to 1 or 2 %",
            ">= 75 %, < 10 %",
            f"{ratio('bbr3', 0.01):.0%}, {ratio('bbr3', 0.05):.1%}",
            passed=ratio("bbr3", 0.01) >= 0.75 and ratio("bbr3", 0.05) < 0.1,
        ),
        Row(
            "random loss: CUBIC at 0.001 %, and at 0.1 %",
            "collapses from 0.001 % on",
            "< 50 %, < 5 %",
            f"{ratio('cubic', 1e-5):.0%}, {ratio('cubic', 1e-3):.1%}",
            passed=ratio("cubic", 1e-5) < 0.5 and ratio("cubic", 1e-3) < 0.05,
        ),
    ]


def shallow(work: Work) -> list[Row]:
    """Losses in a buffer of 0.02 BDP."""
    runs = Runs.of(work.results("nsperf-shallow"))
    loss = {
        scheme: max(runs.where(scheme, k=k).mean("network.packet_loss_rate") for k in (10, 100))
        for scheme in ("bbr", "bbr3", "cubic")
    }
    real = {"bbr": "", "cubic": ""}
    good = {"bbr": True, "cubic": True}
    if work.emulate:
        kernel = Runs.of(work.results("--duration", "20", *EMU, *KERNEL, *SHALLOW_REAL))
        found = {name: kernel.where(f"kernel-{name}").mean("network.packet_loss_rate") for name in real}
        real = {name: f"{one:.2%} (100 Mbit/s)" for name, one in found.items()}
        good = {"bbr": found["bbr"] > 0.05, "cubic": found["cubic"] < found["bbr"] / 3.0}
    return [
        Row(
            "shallow: BBR's losses, the most of 10 and 100 flows",
            "up to 10 to 15 %",
            "5 to 20 %",
            f"{loss['bbr']:.1%}",
            real["bbr"],
            passed=0.05 <= loss["bbr"] <= 0.2 and good["bbr"],
        ),
        Row(
            "shallow: BBRv3's losses",
            "a few %",
            "0.5 to 5 %",
            f"{loss['bbr3']:.1%}",
            passed=0.005 <= loss["bbr3"] <= 0.05,
        ),
        Row(
            "shallow: CUBIC's losses",
            "< 1 %",
            "< 1 %; real, at a tenth of the rate: a third of BBR's",
            f"{loss['cubic']:.2%}",
            real["cubic"],
            passed=loss["cubic"] < 0.01 and good["cubic"],
        ),
    ]


def queue_bdp(run: Run) -> float:
    """Median queueing delay of the first flow in base RTTs (30 ms)."""
    return (value(run, "flows.0.owd_p50_ms") - 15.0) / 30.0


def bufferbloat(work: Work) -> list[Row]:
    """The queue that two flows keep."""
    runs = Runs.of(work.results("nsperf-bufferbloat"))
    queue = {
        scheme: {b: runs.where(scheme, qlen_bdp=b).mean(queue_bdp) for b in (10.0, 100.0)}
        for scheme in ("cubic", "bbr", "bbr3")
    }
    real, good = {"cubic": "", "bbr": ""}, {"cubic": True, "bbr": True}
    if work.emulate:
        words = (*EMU, *KERNEL, "--cell", "nsperf.qlen_bdp-10", "--duration", "30", "--warmup", "10")
        kernel = Runs.of(work.results("nsperf-bufferbloat", *words))
        found = {name: kernel.where(f"kernel-{name}").mean(queue_bdp) for name in real}
        real = {name: f"{one:.1f} in 10 BDP" for name, one in found.items()}
        good = {"cubic": found["cubic"] > 5.0, "bbr": found["bbr"] <= 2.0}
    return [
        Row(
            "bufferbloat: CUBIC's median queue, in BDP",
            "about the buffer",
            "> half of it",
            f"{queue['cubic'][10.0]:.1f} in 10 BDP, {queue['cubic'][100.0]:.0f} in 100",
            real["cubic"],
            passed=queue["cubic"][10.0] > 5.0 and queue["cubic"][100.0] > 50.0 and good["cubic"],
        ),
        *(
            Row(
                f"bufferbloat: {name}'s median queue, in BDP",
                "within 2 BDP",
                "<= 2",
                f"{queue[name][10.0]:.1f} in 10 BDP, {queue[name][100.0]:.1f} in 100",
                real.get(name, ""),
                passed=max(queue[name].values()) <= 2.0 and good.get(name, True),
            )
            for name in ("bbr", "bbr3")
        ),
    ]


def ecn(work: Work) -> list[Row]:
    """The queue under marks, beside DCTCP's."""
    runs = Runs.of(work.results("nsperf-ecn"))
    queue = {
        scheme: runs.where(scheme, k=10).mean("links.0.mean_queue_delay_ms") for scheme in ("bbr3", "bbr3-ecn", "dctcp")
    }
    return [
        Row(
            "ECN: mean queue of 10 flows of BBRv3 with ECN beside DCTCP's, ms",
            "about DCTCP's (BBRv2 with ECN)",
            "at most twice DCTCP's",
            f"{queue['bbr3-ecn']:.2f}, {queue['dctcp']:.2f} (without ECN {queue['bbr3']:.2f})",
            passed=queue["bbr3-ecn"] <= 2.0 * queue["dctcp"],
            why="`bbr3` with `ecn`, the response of Linux's version 3; the draft and the scheme have none",
        )
    ]


def run(work: Work) -> list[Row]:
    """All five."""
    return [row for scenario in (coexist, random_loss, shallow, bufferbloat, ecn) for row in scenario(work)]


CHECK = Check(
    id="R13",
    title="Google's test suite of BBR (nsperf), five scenarios",
    source="google/bbr@e7db863, `gtests/net/tcp/bbr/nsperf/run_tests.sh`; outcomes as in the talks on BBRv2 and BBRv3",
    commands=(
        "dumbbell run nsperf-coexist",
        "dumbbell run nsperf-random-loss",
        "dumbbell run nsperf-shallow",
        "dumbbell run nsperf-bufferbloat",
        "dumbbell run nsperf-ecn",
        f"dumbbell run nsperf-coexist {' '.join(COEXIST)}",
        f"dumbbell run {' '.join((*EMU, *KERNEL, *SHALLOW_REAL))}",
    ),
    run=run,
)
