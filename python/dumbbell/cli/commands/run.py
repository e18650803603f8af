"""Run an experiment."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell.catalog.options.values import (
    Choice,
    Suggestion,
    bandwidth,
    campaign_time,
    count,
    duration,
    names,
    seconds,
    seed,
    size,
)
from dumbbell.cli.options import (
    chosen_path,
    convention_option,
    execution,
    execution_options,
    path_options,
    plugin_option,
)
from dumbbell.cli.outcome import dry_run, execute


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    from dumbbell.base.backend import executing_backends
    from dumbbell.catalog.experiment_settings import LOGS, SIDES, TUNNELS, Settings

    add = parser.add_argument
    made = {backend.form: backend.wording.brief for backend in executing_backends()}
    add("experiment", nargs="?", metavar="EXPERIMENT", help="a listed experiment or a TOML file")
    add("--schemes", type=names, default=(), metavar="A,B|all")
    plugin_option(parser)
    add("--path", type=names, default=(), metavar="P[,P2]", help="listed paths, TOML files or mahimahi traces")
    path_options(parser)
    told = "; ".join(f"{form}: {brief}" for form, brief in made.items())
    add("--backend", type=Suggestion(*made), metavar="|".join(made), help=f"{told}; default: {Settings().backend}")
    add("--runs", type=count, metavar="N", help="repetitions of each scheme on each path")
    add("--duration", type=duration, metavar="S", help="seconds, or with a unit: 500ms, 2min")
    add("--flows", type=count, metavar="N", help="flows of the same scheme in each run")
    add("--interval", type=seconds, metavar="S", help="time between the starts of flows")
    add("--mix", action="append", default=[], metavar="A*2+B", help="flows of several schemes in one run; repeatable")
    add("--warmup", type=seconds, metavar="S", help="time that the corrected metrics leave out")
    add("--seed", type=seed, metavar="N")
    add("--log", type=Choice(*LOGS), metavar="|".join(LOGS), help="packet log")
    add(
        "--exact",
        action="store_true",
        help="hosts answer in no time, flows start when they are told",
    )
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="copa.delta=0.1, reno.transport.ack_every=1")
    add("--cell", type=names, default=(), metavar="C[,C2]", help="only these cells: paths as they are named in results")
    add(
        "--pantheon-dir",
        type=Path,
        metavar="DIR",
        help="a Pantheon checkout: its wrappers become schemes pantheon-NAME",
    )
    add("--until", metavar="ci=2%|modes", help="add runs until means are known so well, or modes are seen")
    convention_option(parser)
    add("--trust", action="store_true", help="run the programs and plug-ins that the experiment file names")
    network = parser.add_argument_group("between two machines, with --backend remote:HOST")
    add = network.add_argument
    add("--sender", type=Choice(*SIDES), metavar="|".join(SIDES), help="where data leaves; default: local")
    told = "around what is not ours, around all packets, or around all as Pantheon's; default: auto"
    add("--tunnel", type=Choice(*TUNNELS), metavar="|".join(TUNNELS), help=told)
    add("--ntp", metavar="HOST", help="a server that both machines compare their clocks with")
    add("--remote-address", metavar="ADDRESS", help="where datagrams to the other machine go, if not where ssh goes")
    add("--udp-ports", metavar="FROM-TO", help="those that a firewall lets pass")
    _campaign(parser)
    execution_options(parser, "results/EXPERIMENT-TIME", "also go to this database, which may hold many")


def _campaign(parser: argparse.ArgumentParser) -> None:
    """When runs are made, and what they may use up."""
    from dumbbell.catalog.experiment_settings import POLITE_BYTES, POLITE_MBPS

    add = parser.add_argument_group("campaigns, and what runs may use up").add_argument
    add("--every", type=campaign_time, metavar="1h", help="one run of each scheme at a time, again and again")
    add("--for", dest="lasts", type=campaign_time, metavar="7d", help="how long, with --every")
    add("--random-order", action="store_true", help="the schemes of each round in an order that is drawn anew")
    add("--disk-quota", type=size, metavar="10GB", help="no run begins that could exceed it; default: what is free")
    add(
        "--bandwidth-cap",
        type=bandwidth,
        metavar="20mbit",
        help=f"over a network: most of a run, averaged over 1 s; default: {POLITE_MBPS:g}mbit",
    )
    add(
        "--data-cap",
        type=size,
        metavar="5GB",
        help=f"over a network: most of all runs together; default: {POLITE_BYTES / 1e9:g}GB",
    )


def main(arguments: argparse.Namespace) -> int:
    """Executes the experiment, or tells what would be run; 0 if every run is good, 1 if not."""
    values = ("backend", "runs", "duration", "flows", "interval", "warmup", "seed", "log", "convention", "trust")
    same = ("experiment", "schemes", *values, "pantheon_dir")
    given = {name: getattr(arguments, name) for name in same} | {"path": chosen_path(arguments)}
    given |= {"mixes": arguments.mix, "cells": arguments.cell, "settings": arguments.set}
    given |= {"plugins": arguments.plugin}
    given["remote"] = dumbbell.Remote(
        sender=arguments.sender,
        tunnel=arguments.tunnel,
        ntp=arguments.ntp,
        address=arguments.remote_address,
        udp_ports=arguments.udp_ports,
    )
    given["campaign"] = dumbbell.Campaign(every=arguments.every, lasts=arguments.lasts)
    given["budget"] = dumbbell.Budget(
        disk_bytes=arguments.disk_quota, bandwidth_mbps=arguments.bandwidth_cap, data_bytes=arguments.data_cap
    )
    given |= {"random_order": arguments.random_order or None, "exact": arguments.exact}
    how = execution(arguments)
    as_json = how.pop("json")
    if arguments.dry_run:
        if arguments.until is not None:
            raise UserError("--until: not with --dry-run: how many runs it takes shows only when they are made")
        return dry_run(dumbbell.preview(**given, **how), as_json)
    shown = {"live": arguments.live, "watch": arguments.watch}
    return execute(given | how | {"until": arguments.until} | shown, as_json)
