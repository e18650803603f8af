"""Table 1 of the reproduction of the Copa paper: Pantheon's logs of February 2018, together."""

from validation.fidelity.published_check import Check, Row, Work

CLAIMS = (
    ("wired: mean queueing delay of BBR over Copa's", "3.2 (13.47 and 4.27 ms)"),
    ("wired: normalised throughput of Copa over BBR's", "0.95 (0.702 and 0.741)"),
    ("cellular: normalised throughput of LEDBAT over Copa's", "1.41 (0.579 and 0.410)"),
    ("cellular: mean queueing delay of LEDBAT over Copa's", "1.18 (83.24 and 70.75 ms)"),
)
WHY = (
    "inputs not at hand: Pantheon's 47 public experiments cannot be downloaded here; the command works on any that "
    "were imported, and tests hold it to numbers by hand"
)


def run(work: Work) -> list[Row]:
    """Nothing can be judged without the logs."""
    del work
    return [Row(what, published, "5 % of throughput, 10 % of delay", why=WHY) for what, published in CLAIMS]


CHECK = Check(
    id="R4",
    title="Pantheon's logs of 2018: throughput as a share of the largest, and queueing delay",
    source="nadinelyab/Copa_Reproduction@72499f0, table 1 of the paper",
    commands=(
        "dumbbell import pantheon EXPERIMENT --out results/1",
        "dumbbell figure results/1 normalised --beside results/2 --legacy",
    ),
    run=run,
)
