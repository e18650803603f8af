"""BBR beside loss-based flows: the model of Ware et al."""

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, Row, Work

SLOW = (
    "from its start on: BBR measures its RTT in CUBIC's queue and gains share over minutes; "
    "the running kernel's BBR beside its CUBIC had 9.7 %, docs/papers/ware.md"
)


def formula(buffer_bdp: float, packets: float) -> float:
    """The model's share of one BBR flow on 10 Mbit/s and 40 ms, after it has converged."""
    capacity_pps, base_s = 10e6 / 8 / 1500, 0.04
    p = max(0.0, 0.5 - 1.0 / (2.0 * buffer_bdp) - 4.0 / packets)
    return (1.0 - p) * (1.0 - (packets / capacity_pps + 0.2 + base_s) / 10.0)


def run(work: Work) -> list[Row]:
    """The deep queue after convergence, and 240 s over buffers."""
    deep = Runs.of(work.results("bbr-share-deep"))
    share = {
        name: deep.where(versus=name).mean("flows.0.payload_share")
        for name in ("cubic", "2-cubic", "4-cubic", "8-cubic", "16-cubic", "reno")
    }
    flows = [one for name, one in share.items() if name != "reno"]
    over = Runs.of(work.results("bbr-share"))
    rows = [
        *(
            Row(
                f"1024 packets, converged: share beside one {name} flow",
                "about 40 %",
                "35 to 45 %",
                f"{share[name]:.1%}",
                passed=0.35 <= share[name] <= 0.45,
            )
            for name in ("cubic", "reno")
        ),
        Row(
            "1024 packets, converged: how far the share moves between 1 and 16 CUBIC flows",
            "it does not depend on their number",
            "< 10 points",
            f"{100.0 * (max(flows) - min(flows)):.1f} ({share['cubic']:.1%} to {share['16-cubic']:.1%})",
            passed=max(flows) - min(flows) < 0.1,
        ),
    ]
    for buffer in (4.0, 16.0, 64.0):
        mine = over.where(qlen_bdp=buffer, versus="cubic").mean("flows.0.payload_share")
        rows.append(
            Row(
                f"{buffer:g} BDP, 240 s: share beside one CUBIC flow",
                f"{formula(buffer, buffer * 100.0 / 3.0):.1%} (model, once converged)",
                "",
                f"{mine:.1%}",
                why=SLOW if buffer == 64.0 else "",
            )
        )
    return [*rows, *([real_row(work)] if work.emulate else [])]


def real_row(work: Work) -> Row:
    """The same short run with the kernel's flows and with ours."""
    cell = ("--cell", "ware.qlen_bdp-4.versus-cubic", "--duration", "60", "--runs", "1")
    kernel = Runs.of(work.results("bbr-share-real", *cell)).mean("flows.0.payload_share")
    ours = Runs.of(work.results("bbr-share", *cell)).mean("flows.0.payload_share")
    return Row(
        "4 BDP, the first 60 s: the kernel's BBR beside its CUBIC",
        "-",
        "ours within 10 points of the kernel's",
        f"{ours:.1%}",
        f"{kernel:.1%}",
        passed=abs(ours - kernel) < 0.1,
    )


CHECK = Check(
    id="R14",
    title="BBR beside loss-based flows in deep queues",
    source="Ware et al., Modeling BBR's interactions with loss-based congestion control, IMC 2019, sections 4 and 5",
    commands=("dumbbell run bbr-share-deep", "dumbbell run bbr-share", "dumbbell run bbr-share-real"),
    run=run,
)
