"""The command line's words: commands, options and what they take."""

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from dumbbell.errors import UserError, nearest
from dumbbell.option_values import (
    Choice,
    Suggestion,
    bandwidth,
    campaign_time,
    count,
    duration,
    fold_count,
    minutes,
    names,
    packet_bytes,
    pair,
    ports,
    seconds,
    seed,
    size,
)

SHELLS = ("bash", "zsh", "fish")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (`{self.prog} --help` shows what is possible)")

    def parse_known_args(self, *words: Any, **settings: Any) -> Any:  # noqa: ANN401 (as argparse has it)
        """Parses; what it does not know is refused first, with the closest that there is."""
        given = list(words[0] if words and words[0] is not None else settings.get("args") or sys.argv[1:])
        self._check(given)
        found, left = super().parse_known_args(given, *words[1:], **settings)
        if left:
            raise self._too_many(given, left)
        return found, left

    def _check(self, words: list[str]) -> None:
        """Refuses the first unknown option, and an unknown command."""
        commands = next((each for each in self._actions if isinstance(each, argparse._SubParsersAction)), None)
        for word in words:
            if word == "--":
                return
            name = word.partition("=")[0]
            if word.startswith("--") and name not in self._option_string_actions:
                hint = nearest(name, self._option_string_actions)
                self.error(f"unknown option {name}{hint}")
            if commands is not None and not word.startswith("-"):
                if word not in commands.choices:
                    hint = nearest(word, commands.choices)
                    raise UserError(f"unknown command `{word}`{hint}: allowed are {', '.join(commands.choices)}")
                return  # the rest is that command's

    def _too_many(self, given: list[str], left: list[str]) -> UserError:
        """The error for words that mean nothing; where they follow a list of names, it says how lists are written."""
        word, behind = left[0], ""
        for index, option in enumerate(given):
            action = self._option_string_actions.get(option)
            if action is not None and action.type is names:
                listed = list(itertools.takewhile(lambda each: not each.startswith("-"), given[index + 1 :]))
                if word in listed[1:]:
                    return UserError(f"`{word}`: names stand between commas: {option} {','.join(listed)}")
        if word.startswith("-") and "--" in (self.usage or "").split():
            behind = ", a command's own options stand behind `--`"
        return UserError(f"`{word}`: nothing is expected there{behind} (`{self.prog} --help` shows what is possible)")


class _Version(argparse.Action):
    """Prints what `dumbbell --version` says and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from dumbbell.commands.version import version_text

        print(version_text())
        parser.exit()


class _Command(_Parser):
    """The parser of one command. It gets its arguments when it is asked: of a command line it is one of many."""

    def __init__(self, *, fill: Callable[[argparse.ArgumentParser], None], **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        self._fill: Callable[[argparse.ArgumentParser], None] | None = fill

    def fill(self) -> None:
        """Adds its arguments, once."""
        fill, self._fill = self._fill, None
        if fill is not None:
            fill(self)

    def parse_known_args(self, *words: Any, **settings: Any) -> Any:  # noqa: ANN401 (as argparse has it)
        """Parses, with the command's arguments added first."""
        self.fill()
        return super().parse_known_args(*words, **settings)


def command_parser(whole: bool = False) -> argparse.ArgumentParser:
    """The parser of everything after `dumbbell`; a `whole` one has the arguments of all commands from the start."""
    parser = _Parser(prog="dumbbell", description="Weighs congestion control.", allow_abbrev=False)
    parser.add_argument("-V", "--version", action=_Version, nargs=0, help="version, commit and what is installed")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Command)
    for name, (meaning, fill) in COMMANDS.items():
        command = commands.add_parser(name, help=meaning, fill=fill, allow_abbrev=False)
        if whole:
            command.fill()
    return parser


def _run(run: argparse.ArgumentParser) -> None:
    from dumbbell import backends
    from dumbbell.catalog.settings import LOGS, SIDES, TUNNELS, Settings

    add = run.add_argument
    made = {backend.form: backend.wording.brief for backend in backends.executing()}
    add("experiment", nargs="?", metavar="EXPERIMENT", help="a listed experiment or a TOML file")
    add("--schemes", type=names, default=(), metavar="A,B|all")
    _plugin_option(run)
    add("--path", type=names, default=(), metavar="P[,P2]", help="listed paths, TOML files or mahimahi traces")
    _path_words(run)
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
        help="hosts answer in no time, flows start when they are told, in repetitions too",
    )
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="copa.delta=0.1, reno.transport.ack_every=1")
    add("--cell", type=names, default=(), metavar="C[,C2]", help="only these cells: paths as they are named in results")
    add(
        "--pantheon-dir",
        type=Path,
        metavar="DIR",
        help="a Pantheon checkout: its wrappers become schemes pantheon-NAME",
    )
    add("--trust", action="store_true", help="run the programs and plug-ins that the experiment file names")
    network = run.add_argument_group("between two machines, with --backend remote:HOST")
    add = network.add_argument
    add("--sender", type=Choice(*SIDES), metavar="|".join(SIDES), help="where data leaves; default: local")
    told = "around what is not ours, around all packets, or around all as Pantheon's; default: auto"
    add("--tunnel", type=Choice(*TUNNELS), metavar="|".join(TUNNELS), help=told)
    add("--ntp", metavar="HOST", help="a server that both machines compare their clocks with")
    add("--remote-address", metavar="ADDRESS", help="where datagrams to the other machine go, if not where ssh goes")
    add("--udp-ports", metavar="FROM-TO", help="those that a firewall lets pass")
    _campaign(run)
    _execution_options(run, "results/EXPERIMENT-TIME", "also go to this database, which may hold many")


def _campaign(parser: argparse.ArgumentParser) -> None:
    """When runs are made, and what they may use up."""
    from dumbbell.catalog.settings import POLITE_BYTES, POLITE_MBPS

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


def _plugin_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE[:NAME]",
        help="controllers of your own: a library (.so) or classes in Python (.py); repeatable",
    )


def _path_words(parser: argparse.ArgumentParser) -> None:
    """A path in one line, the same for every command that takes a path."""
    from dumbbell.catalog.one_line import AQMS, OPTIONS

    group = parser.add_argument_group("a path in one line, instead of --path")
    for name, (example, meaning) in OPTIONS.items():
        values = Suggestion(*AQMS) if name == "aqm" else str
        group.add_argument(f"--{name.replace('_', '-')}", type=values, metavar=example, help=meaning.replace("%", "%%"))


def _benchmark(benchmark: argparse.ArgumentParser) -> None:
    add = benchmark.add_argument
    add(
        "--schemes",
        type=names,
        required=True,
        metavar="A[,B]",
        help="the schemes under test; reference schemes are added",
    )
    level = benchmark.add_mutually_exclusive_group()
    level.add_argument(
        "--quick", action="store_true", help="fewer cells, one run each: under three minutes for one scheme"
    )
    level.add_argument("--full", action="store_true", help="everything (the default)")
    add("--only", type=names, default=(), metavar="NAME[,NAME]", help="only these experiments")
    add("--path", metavar="P", help="experiments that use the path `default` use this one, the others are left out")
    _path_words(benchmark)
    add(
        "--experiment",
        type=names,
        action="extend",
        default=[],
        metavar="FILE.toml[,FILE.toml]",
        help="experiments of your own, beside the standard ones",
    )
    _execution_options(
        benchmark,
        "results/benchmark-SCHEMES-quick or -full",
        "go to this database, which may hold many; default: benchmark.sqlite in DIR",
    )


def _execution_options(parser: argparse.ArgumentParser, directory: str, database: str) -> None:
    """How and where runs are executed, the same for every command that executes experiments."""
    add = parser.add_argument
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor; with real packets: 1")
    add("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler whose workers execute the runs")
    add("--out", type=Path, metavar="DIR", help=f"default: {directory}")
    add("--db-path", type=Path, metavar="FILE", help=f"the numbers {database}")
    add("--resume", action="store_true", help="continue what is in DIR")
    add("--json", action="store_true", help="results as JSON on stdout")
    add("--dry-run", action="store_true", help="only print what would be run and how long it would take")


def _emulate(emulate: argparse.ArgumentParser) -> None:
    emulate.usage = "dumbbell emulate --path P [OPTIONS] [ -- COMMAND ... ]"
    add = emulate.add_argument
    add("--path", metavar="P", help="a listed path, a TOML file, or mahimahi traces UP[,DOWN]")
    _path_words(emulate)
    add("--server", metavar="CMD", help="runs at the far end while COMMAND runs")
    add("--log", type=Path, metavar="FILE.parquet", help="packet log")
    add("--seed", type=seed, default=1, metavar="N")
    add("--quiet", action="store_true", help="no word of where the other end is, and no statistics")
    add("words", nargs="*", metavar="COMMAND", help="default: a shell")


def _kernel(kernel: argparse.ArgumentParser) -> None:
    actions = kernel.add_subparsers(dest="action", required=True, metavar="list|load|unload", parser_class=_Parser)
    actions.add_parser("list", help="which there are, and which are loaded").add_argument("--json", action="store_true")
    load = actions.add_parser("load", help="register one with the kernel until it is unloaded")
    load.add_argument("name", metavar="NAME")
    unload = actions.add_parser("unload", help="take one out of the kernel").add_mutually_exclusive_group(required=True)
    unload.add_argument("name", nargs="?", metavar="NAME")
    unload.add_argument("--all", action="store_true", help="all of ours")


def _import(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    formats = ("pantheon", "mahimahi", "qlog", "pcap", "iperf3", "ss")
    add("format", type=Choice(*formats), metavar="|".join(formats))
    add("source", type=Path, metavar="SRC")
    add("--out", type=Path, metavar="DIR", required=True)
    add("--strict", action="store_true", help="pantheon: refuse whatever Pantheon itself would not write")
    add("--ack", type=Path, metavar="LOG", help="mahimahi: the log of the other direction")
    add("--scheme", metavar="NAME", help="mahimahi, pcap: what made the traffic")
    add("--receiver", type=Path, metavar="PCAP", help="pcap: the capture of the receiver, with SRC that of the sender")
    ends = ("sender", "receiver")
    add("--end", type=Choice(*ends), metavar="|".join(ends), help="pcap: where SRC was captured; default: found out")
    clocks = ("auto", "stamps", "unknown")
    help_clocks = "pcap: delays between both captures as their stamps say, or above the smallest (auto)"
    add("--clocks", type=Choice(*clocks), default="auto", metavar="|".join(clocks), help=help_clocks)


def _export(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    formats = ("pantheon", "qlog", "trace")
    add("format", type=Choice(*formats), metavar="|".join(formats))
    add("source", metavar="DIR|PATH", help="a results directory; trace: a path whose opportunities to write")
    add("--out", type=Path, metavar="DEST", required=True)
    add("--run", metavar="PATH/SCHEME/N", help="qlog: only this run")
    add("--flow", type=count, metavar="N", help="qlog: only this flow")
    drafts = ("0.3", "quic-13")
    add("--draft", type=Choice(*drafts), default="0.3", metavar="|".join(drafts), help="qlog: qvis opens 0.3 (default)")
    add("--direction", type=Choice("data", "ack"), default="data", metavar="data|ack", help="trace: of the path")
    add("--duration", type=duration, default=60.0, metavar="S", help="trace: its length (60)")
    add("--seed", type=seed, default=1, metavar="N", help="trace: seed of the run that it is taken from (1)")


def _ccperf(parser: argparse.ArgumentParser) -> None:
    from dumbbell.ccperf.arguments import add_arguments

    add_arguments(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("--html", action="store_true", help="only HTML")
    add("--pdf", action="store_true", help="only PDF")


def _show(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("--json", action="store_true", help="everything, for programs")
    add("--metrics", type=names, default=(), metavar="A[,B]", help="these metrics, instead of the main ones")
    add("--sort", metavar="METRIC", help="on each path the best of this metric first")
    add("--csv", action="store_true", help="means and intervals as comma-separated values, one row per path and scheme")
    add(
        "--intervals",
        type=duration,
        nargs="?",
        const=1.0,
        metavar="S",
        help="what each flow transferred every S seconds (1), at both ends, as iperf 2 prints it",
    )


def _figure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("kind", nargs="?", metavar="KIND", help="without one: print the kinds")
    add("--out", type=Path, metavar="FILE", help=".svg, .pdf or .png; default: KIND.svg")
    add("--data", type=Path, metavar="FILE", help="the numbers, .csv or .json; default: FILE.csv beside the figure")
    add("--path", metavar="P", help="of which path, where there are several")
    add("--scheme", metavar="S", help="of a run: of which scheme or mix, where there are several")
    add("--run", type=count, metavar="N", help="of a run: which repetition (1)")
    add("--beside", type=Path, action="append", default=[], metavar="DIR", help="normalised: these results, too")
    add("--legacy", action="store_true", help="normalised: with the denominators of the Copa reproduction")


def _list(parser: argparse.ArgumentParser) -> None:
    from dumbbell.library.listing import LISTED

    add = parser.add_argument
    add("what", type=Choice(*LISTED), metavar="|".join(LISTED))
    add("text", nargs="*", metavar="TEXT", help="only those that have all these words somewhere")
    add("--kind", metavar="KIND", help="schemes: only those of a kind: core, kernel, bpf, program, plugin, python")
    _plugin_option(parser)
    add("--json", action="store_true", help="everything that is known of each, for programs")


def _vectors(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scheme", nargs="?", metavar="SCHEME")
    add("--out", type=Path, metavar="DIR", help="default: vectors-SCHEME")
    add("--check", type=Path, metavar="DIR", help="compare what is in DIR with what comes out today")


def _train(parser: argparse.ArgumentParser) -> None:
    from dumbbell.train.kinds import KINDS

    kinds = parser.add_subparsers(dest="kind", required=True, metavar="|".join(KINDS), parser_class=_Parser)
    for trainer in KINDS.values():
        add = kinds.add_parser(trainer.name, help=trainer.summary, allow_abbrev=False).add_argument
        add("--out", type=Path, metavar="FILE", help=f"default: {trainer.name}{trainer.suffix}")
        add("--seed", type=seed, default=1, metavar="N")
        add("--minutes", type=minutes, metavar="M", help=f"how long; default: {trainer.minutes:g}")
        add("--jobs", type=count, metavar="N", help="threads; default: one per processor")
        add("--resume", action="store_true", help="go on from FILE")
        for setting in trainer.settings:
            add(
                f"--{setting.option}", dest=setting.name, type=setting.parse, metavar=setting.metavar, help=setting.help
            )


def _diff(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("first", type=Path, metavar="DIR_A")
    add("second", type=Path, metavar="DIR_B")
    add("--all", action="store_true", help="every metric, not only the main ones")
    add("--json", action="store_true")


def _remote(remote: argparse.ArgumentParser) -> None:
    from dumbbell.remote.host import FORM

    actions = remote.add_subparsers(dest="action", required=True, metavar="check|install", parser_class=_Parser)
    check = actions.add_parser("check", help="what runs with another machine need, and whether it is there")
    install = actions.add_parser("install", help="put this dumbbell there, over ssh")
    for action in (check, install):
        action.add_argument("host", metavar="HOST", help=FORM)
    check.add_argument("--json", action="store_true")
    add = install.add_argument
    add("--from", dest="wheel", type=Path, metavar="WHEEL", help="default: one is made of the dumbbell that runs")
    add("--offline", action="store_true", help="also send what it depends on, as it is installed here")
    serve = actions.add_parser(
        "serve", help="an agent on standard input and output: what other machines start over ssh"
    )
    serve.add_argument("--own", action="store_true", help=argparse.SUPPRESS)


def _measured_path(parser: argparse.ArgumentParser) -> None:
    from dumbbell.pathfinding.plan import DATA_CAP_BYTES, DURATION_S, QUICK_S

    add = parser.add_argument
    add("host", metavar="HOST", help="[user@]HOST[:PORT], where dumbbell is installed and ssh leads to")
    add("--out", type=Path, metavar="FILE.toml", help="write the path there, for --path")
    add("--name", metavar="NAME", help="of the path; default: to-HOST")
    time = parser.add_mutually_exclusive_group()
    time.add_argument("--duration", type=duration, default=DURATION_S, metavar="S", help="about; default: 5min")
    time.add_argument("--quick", dest="duration", action="store_const", const=QUICK_S, help="about one minute")
    cap = "most that may be sent, like 20mbit: the path is not filled then"
    add("--bandwidth-cap", type=bandwidth, metavar="RATE", help=cap)
    told = f"most that may be sent in all, like 200MB; default: {DATA_CAP_BYTES // 10**6}MB"
    add("--data-cap", type=size, default=DATA_CAP_BYTES, metavar="SIZE", help=told)
    add("--ntp", metavar="HOST", help="a server that both machines compare their clocks with")
    add("--remote-address", metavar="ADDRESS", help="where datagrams to the other machine go, if not where ssh goes")
    add("--udp-ports", type=ports, metavar="FROM-TO", help="those that a firewall lets pass")
    add("--json", action="store_true", help="everything, for programs")


def _calibrate(parser: argparse.ArgumentParser) -> None:
    from dumbbell.calibrate import EVALUATIONS, FOLDS

    add = parser.add_argument
    add("target", metavar="TARGET", help="a results directory, a table (.csv), or an experiment with published numbers")
    add("--out", type=Path, metavar="PATH.toml", required=True, help="the path file; its journal is beside it")
    add("--name", metavar="NAME", help="of the path; default: that of the file")
    add("--path", metavar="P", help="which one, where TARGET has several")
    add("--schemes", type=names, default=(), metavar="A,B", help="only these of TARGET")
    told = "a scheme of TARGET, and ours that simulates it; repeatable"
    add("--as", dest="stands_for", action="append", type=pair, default=[], metavar="NAME=OURS", help=told)
    add("--models", type=names, default=(), metavar="A,B", help="only these of the ladder, as `queue,loss`")
    told = f"groups of schemes, each held out once; 0: none; default: {FOLDS}"
    add("--folds", type=fold_count, default=FOLDS, metavar="N", help=told)
    told = f"most paths that a search tries; default: {EVALUATIONS}"
    add("--evaluations", type=count, default=EVALUATIONS, metavar="N", help=told)
    told = "minimise Pantheon's error as it is, whatever the runs of a scheme differ by"
    add("--equal-weights", action="store_true", help=told)
    add("--minutes", type=minutes, metavar="M", help="how long, about; default: until all searches have ended")
    add("--runs", type=count, metavar="N", help="simulated repetitions on each path that is tried; default: TARGET's")
    add("--duration", type=duration, metavar="S", help="of a run; default: TARGET's")
    add("--flows", type=count, metavar="N", help="flows of the same scheme in each run; default: TARGET's")
    add("--interval", type=seconds, metavar="S", help="time between the starts of flows")
    told = "what the path adds to each datagram; default: TARGET's"
    add("--overhead", dest="overhead_bytes", type=packet_bytes, metavar="BYTES", help=told)
    add("--seed", type=seed, default=1, metavar="N")
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor")
    add("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler whose workers execute the runs")
    add("--resume", action="store_true", help="go on with what was tried before")
    add("--json", action="store_true", help="everything, for programs")


def _plugin(plugin: argparse.ArgumentParser) -> None:
    actions = plugin.add_subparsers(dest="action", required=True, metavar="include|kernel|cost", parser_class=_Parser)
    actions.add_parser("include", help="print the folder that has dumbbell.h")
    kernel = actions.add_parser("kernel", help="compile a controller of a Linux source tree into a plug-in")
    kernel.add_argument("source", metavar="FILE", help="for example net/ipv4/tcp_illinois.c")
    cost = actions.add_parser("cost", help="measure what controllers cost: ns for each ACK")
    cost.add_argument("controllers", nargs="+", metavar="SCHEME", help="files of plug-ins, or listed schemes")
    cost.add_argument("--json", action="store_true")
    kernel.add_argument("--out", metavar="FILE.so", help="library to write; default: libtcp_illinois.so here")


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", type=Choice(*SHELLS), metavar="|".join(SHELLS))


def _doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "run": ("run an experiment", _run),
    "benchmark": ("every standard scenario for schemes", _benchmark),
    "emulate": ("run any command behind an emulated path", _emulate),
    "ccperf": ("run a command that ccperf prints", _ccperf),
    "report": ("write report.html and report.pdf", _report),
    "figure": ("one figure as a file, and its numbers", _figure),
    "show": ("print results", _show),
    "list": ("print what can be named", _list),
    "import": ("read results of other tools", _import),
    "export": ("write for other tools", _export),
    "vectors": ("golden traces of a controller, for its implementers", _vectors),
    "train": ("make a learned controller anew", _train),
    "diff": ("compare two results directories", _diff),
    "kernel": ("our controllers in the kernel, loaded to stay", _kernel),
    "remote": ("runs with another machine: check and install", _remote),
    "path": ("measure the network to another machine", _measured_path),
    "calibrate": ("find the path under which schemes behave as measured", _calibrate),
    "plugin": ("what controllers of your own need", _plugin),
    "completion": ("print what makes a shell complete these words", _completion),
    "doctor": ("check the installation", _doctor),
}
"""The commands: what they are for, and what adds their arguments."""
