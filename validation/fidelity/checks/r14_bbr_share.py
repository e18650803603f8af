"""BBR against loss-based flows: the model of Ware et al."""

from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, RowValues, Work

DEEP = ("cubic", "2-cubic", "4-cubic", "8-cubic", "16-cubic", "reno")
BUFFERS = (4.0, 16.0, 64.0)


def cells(path: str, labels: list[str]) -> tuple[str, str]:
    """Return the option that chooses cells."""
    return "--cell", ",".join(f"{path}.{label}" for label in labels)


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the shares in a deep queue after convergence, and for 240 s by buffer."""
    words = cells("ware-deep", [f"versus-{name}" for name in DEEP])
    deep = Runs.of(work.repetitions("bbr-share-deep", *words, count=count))
    words = cells("ware", [f"qlen_bdp-{buffer:g}.versus-cubic" for buffer in BUFFERS])
    start = Runs.of(work.repetitions("bbr-share", *words, count=count))
    return [
        converged_shares(repetition)
        | {
            f"start/{buffer:g}": {"share": other.where(qlen_bdp=buffer).mean("flows.0.payload_share")}
            for buffer in BUFFERS
        }
        for repetition, other in zip(deep.repetitions(count), start.repetitions(count), strict=True)
    ]


def converged_shares(runs: Runs) -> dict[str, dict[str, float]]:
    """Return the shares against one flow, and their difference between 1 and 16 flows."""
    share = {name: runs.where(versus=name).mean("flows.0.payload_share") for name in DEEP}
    cubic = [value for name, value in share.items() if name != "reno"]
    return {
        **{f"deep/{name}": {"share": share[name]} for name in ("cubic", "reno")},
        "deep/number": {"spread": max(cubic) - min(cubic)},
    }


def real(work: Work) -> RowValues:
    """Return the shares of the same short run with the kernel's flows and with simulated ones."""
    words = (*cells("ware", ["qlen_bdp-4.versus-cubic"]), "--duration", "60", "--runs", "1")
    kernel, simulated_share = (
        Runs.of(work.results(name, *words)).mean("flows.0.payload_share") for name in ("bbr-share-real", "bbr-share")
    )
    return {"kernel": {"kernel": kernel, "ours": simulated_share, "apart": abs(simulated_share - kernel)}}


CHECK = Check("R14", "r14_bbr_share", simulate, real)
