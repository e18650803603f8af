"""The command line: parses arguments, calls the command, turns errors into one line and an exit status."""

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from dumbbell import __version__, _core
from dumbbell.catalog.settings import LOGS, READERS
from dumbbell.ccperf.arguments import add_arguments
from dumbbell.errors import UserError, one_line, with_hint
from dumbbell.option_values import Choice, count, duration, milliseconds, names, seconds, seed

GOOD, SOME_FAILED, BAD_USAGE = 0, 1, 2


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (`{self.prog} --help` shows what is possible)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="dumbbell", description="Weighs congestion control.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dumbbell {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _run_parser(commands.add_parser("run", help="run an experiment", allow_abbrev=False))

    _benchmark_parser(commands.add_parser("benchmark", help="every standard scenario for schemes", allow_abbrev=False))
    _emulate_parser(commands.add_parser("emulate", help="run any command behind an emulated path", allow_abbrev=False))

    add_arguments(commands.add_parser("ccperf", help="run a command that ccperf prints", allow_abbrev=False))

    report = commands.add_parser("report", help="write report.html and report.pdf")
    report.add_argument("directory", type=Path, metavar="DIR")
    report.add_argument("--html", action="store_true", help="only HTML")
    report.add_argument("--pdf", action="store_true", help="only PDF")

    show = commands.add_parser("show", help="print results")
    show.add_argument("directory", type=Path, metavar="DIR")
    show.add_argument("--json", action="store_true", help="everything, for programs")
    show.add_argument(
        "--metrics", type=names, default=(), metavar="A[,B]", help="these metrics, instead of the main ones"
    )
    show.add_argument(
        "--intervals",
        type=duration,
        nargs="?",
        const=1.0,
        metavar="S",
        help="what each flow transferred every S seconds (1), at both ends, as iperf 2 prints it",
    )

    named = commands.add_parser("list", help="print what can be named")
    from dumbbell.commands.list import KINDS

    named.add_argument("kind", type=Choice(*KINDS), metavar="|".join(KINDS))
    named.add_argument("--json", action="store_true")

    _import_parser(commands.add_parser("import", help="read results of other tools", allow_abbrev=False))

    _export_parser(commands.add_parser("export", help="write for other tools", allow_abbrev=False))

    vectors = commands.add_parser(
        "vectors", help="golden traces of a controller, for its implementers", allow_abbrev=False
    )
    vectors.add_argument("scheme", nargs="?", metavar="SCHEME")
    vectors.add_argument("--out", type=Path, metavar="DIR", help="default: vectors-SCHEME")
    vectors.add_argument("--check", type=Path, metavar="DIR", help="compare what is in DIR with what comes out today")

    diff = commands.add_parser("diff", help="compare two results directories")
    diff.add_argument("first", type=Path, metavar="DIR_A")
    diff.add_argument("second", type=Path, metavar="DIR_B")
    diff.add_argument("--all", action="store_true", help="every metric, not only the main ones")
    diff.add_argument("--json", action="store_true")

    _kernel_parser(
        commands.add_parser("kernel", help="our controllers in the kernel, loaded to stay", allow_abbrev=False)
    )

    doctor = commands.add_parser("doctor", help="check the installation")
    doctor.add_argument("--json", action="store_true")
    return parser


def _run_parser(run: argparse.ArgumentParser) -> None:
    add = run.add_argument
    add("experiment", nargs="?", metavar="EXPERIMENT", help="a listed experiment or a TOML file")
    add("--schemes", type=names, default=(), metavar="A,B|all")
    add("--path", type=names, default=(), metavar="P[,P2]", help="listed paths, TOML files or mahimahi traces")
    add("--backend", metavar="sim|emu", help="sim: virtual time (the default); emu: real packets")
    add("--runs", type=count, metavar="N", help="repetitions of each scheme on each path")
    add("--duration", dest="duration_s", type=duration, metavar="S", help="seconds, or with a unit: 500ms, 2min")
    add("--flows", type=count, metavar="N", help="flows of the same scheme in each run")
    add("--interval", dest="interval_s", type=seconds, metavar="S", help="time between the starts of flows")
    add("--mix", action="append", default=[], metavar="A*2+B", help="flows of several schemes in one run; repeatable")
    add("--warmup", dest="warmup_s", type=seconds, metavar="S", help="time that the corrected metrics leave out")
    add("--seed", type=seed, metavar="N")
    add("--log", type=Choice(*LOGS), metavar="|".join(LOGS), help="packet log")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="copa.delta=0.1, reno.transport.ack_every=1")
    add("--cell", type=names, default=(), metavar="C[,C2]", help="only these cells: paths as they are named in results")
    add(
        "--pantheon-dir",
        type=Path,
        metavar="DIR",
        help="a Pantheon checkout: its wrappers become schemes pantheon-NAME",
    )
    _execution_options(run, "results/EXPERIMENT-TIME", "also go to this database, which may hold many")


def _benchmark_parser(benchmark: argparse.ArgumentParser) -> None:
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


def _emulate_parser(emulate: argparse.ArgumentParser) -> None:
    emulate.usage = "dumbbell emulate --path P [OPTIONS] [-- COMMAND ...]"
    add = emulate.add_argument
    add("--path", required=True, metavar="P", help="a listed path, a TOML file, or mahimahi traces UP[,DOWN]")
    add("--delay", type=milliseconds, default=0.0, metavar="MS", help="with traces: one-way delay in each direction")
    add("--queue", metavar="KIND:KEY=N", help="with traces: the queue of both, like droptail:packets=100")
    add("--server", metavar="CMD", help="runs at the far end while COMMAND runs")
    add("--log", type=Path, metavar="FILE.parquet", help="packet log")
    add("--seed", type=seed, default=1, metavar="N")
    add("--quiet", action="store_true", help="no statistics while it runs")
    add("words", nargs="*", metavar="COMMAND", help="default: a shell")


def _kernel_parser(kernel: argparse.ArgumentParser) -> None:
    actions = kernel.add_subparsers(dest="action", required=True, metavar="list|load|unload", parser_class=_Parser)
    actions.add_parser("list", help="which there are, and which are loaded").add_argument("--json", action="store_true")
    load = actions.add_parser("load", help="register one with the kernel until it is unloaded")
    load.add_argument("name", metavar="NAME")
    unload = actions.add_parser("unload", help="take one out of the kernel").add_mutually_exclusive_group(required=True)
    unload.add_argument("name", nargs="?", metavar="NAME")
    unload.add_argument("--all", action="store_true", help="all of ours")


def _import_parser(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    formats = ("pantheon", "mahimahi", "qlog", "pcap", "iperf3")
    add("format", type=Choice(*formats), metavar="|".join(formats))
    add("source", type=Path, metavar="SRC")
    add("--out", type=Path, metavar="DIR", required=True)
    add("--ack", type=Path, metavar="LOG", help="mahimahi: the log of the other direction")
    add("--scheme", default="imported", metavar="NAME", help="mahimahi: what made the traffic")


def _export_parser(parser: argparse.ArgumentParser) -> None:
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


def _execution(arguments: argparse.Namespace) -> dict[str, Any]:
    """The values of `_execution_options` as commands call them."""
    same = ("jobs", "out", "resume", "json", "cluster")
    return {name: getattr(arguments, name) for name in same} | {"database": arguments.db_path}


def _run(arguments: argparse.Namespace) -> int:
    from dumbbell.commands.run import RunCommand, run
    from dumbbell.experiment import Overrides

    overrides = Overrides(
        schemes=arguments.schemes,
        mixes=tuple(arguments.mix),
        paths=arguments.path,
        settings={name: value for name in READERS if (value := getattr(arguments, name, None)) is not None},
        assignments=tuple(arguments.set),
        cells=arguments.cell,
    )
    command = RunCommand(
        experiment=arguments.experiment,
        overrides=overrides,
        pantheon_dir=arguments.pantheon_dir,
        **_execution(arguments),
    )
    return run(command)


def _benchmark(arguments: argparse.Namespace) -> int:
    from dumbbell.commands.benchmark import BenchmarkCommand, benchmark

    command = BenchmarkCommand(
        schemes=arguments.schemes,
        quick=arguments.quick,
        only=arguments.only,
        **_execution(arguments),
    )
    return benchmark(command)


def _emulate(arguments: argparse.Namespace) -> int:
    from dumbbell.commands.emulate import EmulateCommand, emulate

    command = EmulateCommand(
        path=arguments.path,
        command=arguments.words,
        server=arguments.server,
        delay_ms=arguments.delay,
        queue=arguments.queue,
        seed=arguments.seed,
        log=arguments.log,
        quiet=arguments.quiet,
    )
    return emulate(command)


def _kernel(arguments: argparse.Namespace) -> int:
    from dumbbell.commands.kernel import kernel

    flags = [f"--{name}" for name in ("json", "all") if getattr(arguments, name, False)]
    named = [arguments.name] if getattr(arguments, "name", None) else []
    return kernel(arguments.action, [*flags, *named])


def _dispatch(arguments: argparse.Namespace) -> int:
    match arguments.command:
        case "run":
            return _run(arguments)
        case "benchmark":
            return _benchmark(arguments)
        case "ccperf":
            from dumbbell.commands.ccperf import ccperf

            return ccperf(arguments)
        case "emulate":
            return _emulate(arguments)
        case "kernel":
            return _kernel(arguments)
        case "report":
            from dumbbell.commands.show import report

            return report(arguments.directory, arguments.html, arguments.pdf)
        case "show":
            from dumbbell.commands.show import show

            return show(arguments.directory, arguments.json, arguments.intervals, arguments.metrics)
        case "list":
            from dumbbell.commands.list import print_catalog

            return print_catalog(arguments.kind, arguments.json)
        case "import":
            from dumbbell.commands.exchange import import_results

            return import_results(arguments)
        case "export":
            from dumbbell.commands.exchange import export_flows, export_results, export_trace

            if arguments.format == "pantheon":
                return export_results(Path(arguments.source), arguments.out)
            if arguments.format == "qlog":
                source = Path(arguments.source)
                return export_flows(source, arguments.out, arguments.run, arguments.flow, arguments.draft)
            return export_trace(
                arguments.source, arguments.direction, arguments.seed, arguments.duration, arguments.out
            )
        case "vectors":
            from dumbbell.commands.vectors import vectors

            return vectors(arguments.scheme, arguments.out, arguments.check)
        case "diff":
            from dumbbell.commands.show import diff

            return diff(arguments.first, arguments.second, arguments.all, arguments.json)
        case _:
            from dumbbell.commands.doctor import doctor

            return doctor(arguments.json)


def main(arguments: list[str] | None = None) -> int:
    """The `dumbbell` command. Exit status: 0 all good, 1 some runs failed, 2 bad usage."""
    try:
        status = _dispatch(_parser().parse_args(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except KeyboardInterrupt:
        print("dumbbell: interrupted", file=sys.stderr)
        return SOME_FAILED
    except (UserError, _core.Error, OSError) as error:
        print(f"dumbbell: {with_hint(one_line(error))}", file=sys.stderr)
        return BAD_USAGE
