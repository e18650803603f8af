"""Options of ccperf's command line, as ccperf.net prints it for its experiments. Values are strings."""

import argparse
from pathlib import Path

from dumbbell.base.errors import UserError, nearest
from dumbbell.catalog.ns3 import PROFILES

PROGRAM = "ns3-dev-ccperf-static-dumbbell-default"
"""Name of ccperf's executable: version, program and build profile, as ns-3 builds names."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ccperf's options, followed by dumbbell's own."""
    add = parser.add_argument
    add("program", nargs="?", metavar=PROGRAM, help="the program's name, if it was copied as well")
    for option, example, meaning in (
        ("--bw", "100.42Mbps", "rate of the bottleneck"),
        ("--qlen", "173p", "length of its queue, in packets or bytes (kB)"),
        ("--rtts", "54ms", "two-way propagation delay of each flow"),
        ("--algs", "TcpNewReno", "congestion control of each flow"),
        ("--stop-time", "15s", "length of the run"),
    ):
        add(option, required=True, metavar=example, help=meaning)
    for option, default, meaning in (
        ("--experiment-name", "ccperf", "identifier of the experiment"),
        ("--seed", "1", "random seed"),
        ("--loss", "0.0", "probability of losing a packet at the bottleneck"),
        ("--qdisc", "FifoQueueDisc", "queue of the bottleneck"),
    ):
        add(option, default=default, metavar=default, help=f"{meaning} (the default)")
    for option, example, meaning in (
        ("--aut", "TcpNewReno", "algorithm under test; default: of the first flow"),
        ("--sources", "src_0", "node of each flow; default: src_0, src_1, ..."),
        ("--destinations", "dst_0", "node of each flow; default: dst_0, dst_1, ..."),
        ("--protocols", "TCP", "TCP (default) or UDP, of each flow"),
        ("--recoveries", "TcpPrrRecovery", "of each flow (the default)"),
        ("--start-times", "0s", "of each flow (the default)"),
        ("--stop-times", "15s", "of each flow; default: the end"),
        ("--traffic-models", "Greedy(bytes=0)", "of each flow (the default), or CBR(bytes,rate), Poisson(bytes,rate)"),
    ):
        add(option, metavar=example, help=meaning)
    add(
        "--parameters",
        action="append",
        metavar="{aut:...,path:...}",
        help="parameters of the experiment, kept as given",
    )
    add("--db-path", type=Path, metavar="FILE", help="the results also go to this database")
    add("--profile", type=_profile, default=PROFILES[0], metavar="|".join(PROFILES), help="how TCP behaves")
    add("--out", type=Path, metavar="DIR", help="default: results/NAME-TIME")
    add("--json", action="store_true", help="results as JSON on stdout")


def _profile(text: str) -> str:
    if text not in PROFILES:
        raise argparse.ArgumentTypeError(
            f"unknown `{text}`{nearest(text, PROFILES)}: allowed are {', '.join(PROFILES)}"
        )
    return text


def check_program(name: str | None) -> None:
    """Refuses other programs of ccperf, whose options mean something else.

    Raises:
        UserError: it is not the static dumbbell.
    """
    if name is not None and "ccperf-static-dumbbell" not in name:
        raise UserError(
            f"`{name}`: allowed is {PROGRAM}: ccperf's static dumbbell is the one whose command line is known"
        )
