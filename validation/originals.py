"""Comparison of built-in controllers with an original outside the kernel, which the user has as a source tree.

Usage: python -m validation.originals SCHEME --source DIR [--cells NAME,...] [--runs N] [--write]. SCHEME is one of
`ORIGINALS`. A wrapper of `validation/originals` and the original's files, unchanged, become a plug-in, which runs
over the transport of the built-in scheme and the same draws of the path. With --write the table goes into the page
of the scheme.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import catalog
from dumbbell.catalog.scheme import Scheme
from scripts.blocks import replace_block
from validation.kernel_sources import MIDDLE, RUNS, SHORT, STUDENT, Cell, agreement

ROOT = Path(__file__).resolve().parent.parent
WRAPPERS = Path(__file__).resolve().parent / "originals"

# The tolerances of kernel_sources.py hold here, too. These values were chosen before the first table that they judge.

LEAST_MS = 2.0
"""Difference in the 95th percentile of the one-way delay that always passes, ms."""

LTE = "cellular-verizon-lte-down"

CELLS = {
    "short": SHORT,
    "long": Cell(path="50 Mbit/s, 80 ms, 1 BDP", mbps=50.0, rtt_ms=80.0),
    "shallow": Cell(path="12 Mbit/s, 40 ms, 25 ms of buffer", mbps=12.0, rtt_ms=40.0, bdps=0.625),
    "fast": Cell(path="100 Mbit/s, 54 ms, 173 packets", mbps=100.0, rtt_ms=54.0, packets=173),
    "lossy": replace(SHORT, path=f"{SHORT.path}, 0.1 % loss", loss=0.001),
    "lossier": Cell(path="50 Mbit/s, 40 ms, 1 BDP, 1 % loss", mbps=50.0, rtt_ms=40.0, loss=0.01),
    "falls": Cell(path="40 Mbit/s, from 15 s on 10; 40 ms, 200 kB", mbps=40.0, rtt_ms=40.0, steps=((15.0, 10.0),)),
    "rises": Cell(
        path="10 Mbit/s, from 15 s on 40; 40 ms, 200 kB", mbps=10.0, rtt_ms=40.0, bdps=4.0, steps=((15.0, 40.0),)
    ),
    "lte": Cell(path=f"`{LTE}`", mbps=0.0, rtt_ms=0.0, preset=LTE),
    "two": replace(MIDDLE, flows=2),
    "beside": replace(MIDDLE, beside=True),
}

REORDER = '[[data]]\nkind = "reorder"\nprobability = {}\ndelay_ms = {}\n'
OUTAGE = """[[data]]
kind = "loss"
probability = 0.0
schedule = [{ at_s = 10.0, probability = 1.0 }, { at_s = 12.0, probability = 0.0 }]
"""
RECOVERY = {
    "late": replace(MIDDLE, path=f"{MIDDLE.path}, 1 % of packets 30 ms late", also=REORDER.format(0.01, 30.0)),
    "overtaken": replace(MIDDLE, path=f"{MIDDLE.path}, 75 % of packets 5 ms late", also=REORDER.format(0.75, 5.0)),
    "outage": replace(MIDDLE, path=f"{MIDDLE.path}, all lost from 10 to 12 s", also=OUTAGE),
}
"""False losses, which are undone, and persistent congestion: cells for QUIC controllers."""

MARKS = Cell(path="50 Mbit/s, 20 ms, marks beyond 1 ms", mbps=50.0, rtt_ms=20.0, marks_ms=1.0)
MARKED = {
    "marks": MARKS,
    "marks-two": replace(MARKS, flows=2),
    "marks-beside": replace(MARKS, beside=True),
}

NEAR = replace(MARKS, path="50 Mbit/s, 5 ms, marks beyond 1 ms", rtt_ms=5.0)
MARKED_NEAR = {"marks-near": NEAR, "marks-near-beside": replace(NEAR, beside=True)}
"""RTTs far below the 25 ms of Prague's virtual RTT."""

SHALLOW = {
    "shallow-20": Cell(path="20 Mbit/s, 60 ms, 25 ms of buffer", mbps=20.0, rtt_ms=60.0, bdps=25 / 60),
    "shallow-100": Cell(path="20 Mbit/s, 100 ms, 25 ms of buffer", mbps=20.0, rtt_ms=100.0, bdps=0.25),
}
"""Queues that hold less than the delay at which SCReAM begins to reduce its rate."""

SLOW = Cell(path="0.5 Mbit/s, 50 ms, 25 kB", mbps=0.5, rtt_ms=50.0, bdps=8.0)
MEDIA = {
    "below": SLOW,
    "at-maximum": replace(SLOW, path="1.56 Mbit/s, 50 ms, 78 kB", mbps=1.56),
}
"""Rates below NADA's highest one, 1.5 Mbit/s, and a rate that NADA fills with its headers."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A built-in scheme, and the parameters that make the original equal to it."""

    scheme: str
    """Built-in scheme; both have its transport and its application."""
    label: str = ""
    """Name in the table; by default that of the scheme."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the built-in scheme, in addition to its own."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport of both, in addition to those of the scheme."""
    original: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the original."""


@dataclass(frozen=True, kw_only=True)
class Original:
    """A source tree, its files that are compiled with the wrapper, and the schemes that it is compared with."""

    source: str
    """Repository and commit that the wrapper was written for."""
    wrapper: str
    """File of `validation/originals`."""
    sources: Sequence[str]
    """Files of the tree that are compiled."""
    folders: Sequence[str]
    """Folders of the tree whose headers are found."""
    options: Sequence[str] = ()
    """Options of the compiler."""
    stand_ins: str = ""
    """Folder of `validation/originals/include` whose headers replace those of the tree."""
    pairs: Sequence[Pair]
    page: str
    cells: Mapping[str, Cell]


GENERICCC = ("markoviancc.cc", "estimators.cc", "random.cc")
KEEPS_FREED = ("-Wl,-Bsymbolic-functions",)
"""Options with which the library uses its own operators within itself."""

CPP20 = ("-std=c++20",)
QUIC_CORE = "quiche/quic/core"
PRAGUE = ("prague_sender", "tcp_cubic_sender_bytes", "cubic_bytes", "hybrid_slow_start", "prr_sender", "rtt_stats")

ORIGINALS: dict[str, Original] = {
    "copa-gcc2018": Original(
        source="venkatarun95/genericCC@d0153f8",
        wrapper="genericcc.cc",
        sources=(*GENERICCC, "rtt-window.cc"),
        folders=(".",),
        options=KEEPS_FREED,
        pairs=(Pair(scheme="copa-gcc2018"),),
        page="copa-gcc2018",
        cells=CELLS,
    ),
    "copa-gcc2017": Original(
        source="venkatarun95/genericCC@80b516c",
        wrapper="genericcc.cc",
        sources=GENERICCC,
        folders=(".",),
        options=KEEPS_FREED,
        pairs=(Pair(scheme="copa-gcc2017"),),
        page="copa-gcc2017",
        cells={name: cell for name, cell in CELLS.items() if name != "fast"},  # there its window runs away
    ),
    "cubic": Original(
        source="ngtcp2/ngtcp2@f3af8b1",
        wrapper="ngtcp2.c",
        sources=tuple(f"lib/ngtcp2_{name}.c" for name in ("cc", "log", "fmt", "str", "conv")),
        folders=("lib", "lib/includes"),
        options=("-ffunction-sections", "-fvisibility=hidden", "-Wl,--gc-sections"),
        pairs=(
            Pair(
                scheme="cubic",
                label="cubic",
                parameters={"hystart_limit": "0"},
                transport={"profile": "quic", "pacing_gain": 1.25},
            ),
        ),
        page="cubic",
        cells=CELLS | RECOVERY,
    ),
    "scream": Original(
        source="EricssonResearch/scream@c8f84c3",
        wrapper="scream.cc",
        sources=tuple(f"code/{name}.cpp" for name in ("ScreamV2Tx", "ScreamV2TxStream", "ScreamTx")),
        folders=("code",),
        pairs=(Pair(scheme="scream"), Pair(scheme="scream-draft")),
        page="scream",
        cells=CELLS | SHALLOW | MARKED,
    ),
    "nada": Original(
        source="cisco/ns3-rmcat@adb3f8e",
        wrapper="nada.cc",
        sources=tuple(f"model/congestion-control/{name}-controller.cc" for name in ("nada", "sender-based")),
        folders=("model/congestion-control",),
        pairs=(
            Pair(scheme="nada"),
            Pair(scheme="nada", label="nada-as-code", parameters={"beta": "0", "quirk_first_packet": "true"}),
            Pair(
                scheme="nada",
                label="nada-10",
                parameters={"max_rate_mbps": "10"},
                original={"max_rate_mbps": "10"},
            ),
            Pair(
                scheme="nada",
                label="nada-10-as-code",
                parameters={"max_rate_mbps": "10", "beta": "0", "quirk_first_packet": "true"},
                original={"max_rate_mbps": "10"},
            ),
        ),
        page="nada",
        cells=CELLS | MEDIA,
    ),
    "prague": Original(
        source="google/quiche@f44fa9f",
        wrapper="quiche.cc",
        sources=(
            *(f"{QUIC_CORE}/congestion_control/{name}.cc" for name in PRAGUE),
            f"{QUIC_CORE}/quic_packet_number.cc",
        ),
        folders=(".",),
        options=CPP20,
        stand_ins="quiche",
        pairs=(
            Pair(scheme="prague", label="prague-2", parameters={"connections": "2"}),
            Pair(scheme="prague", original={"connections": "1"}),
        ),
        page="prague",
        cells=CELLS | RECOVERY | MARKED | MARKED_NEAR,
    ),
    "copa-mvfst": Original(
        source="facebook/mvfst@979f26a",
        wrapper="mvfst.cc",
        sources=tuple(f"quic/congestion_control/{name}.cpp" for name in ("Copa", "CongestionControlFunctions")),
        folders=(".",),
        options=CPP20,
        stand_ins="mvfst",
        pairs=(
            Pair(scheme="copa-mvfst"),
            Pair(
                scheme="copa-mvfst",
                label="copa-mvfst-standing",
                parameters={"use_rtt_standing": "true"},
                original={"use_rtt_standing": "true"},
            ),
            Pair(scheme="copa-mvfst", label="copa-mvfst-bursts", original={"bursts": "true"}),
        ),
        page="copa-mvfst",
        cells=CELLS | RECOVERY,
    ),
}


class SourceError(Exception):
    """The source tree does not fit its wrapper; the message is one line."""


def main() -> None:
    """Build the plug-in, run all cells, and print or write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.originals", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("scheme", choices=sorted(ORIGINALS))
    parser.add_argument("--source", type=Path, required=True, metavar="DIR", help="source tree of the original")
    parser.add_argument("--cells", default="", help="names of cells, with commas between; default: all")
    parser.add_argument("--runs", type=int, default=RUNS, choices=sorted(STUDENT), help="runs per cell")
    parser.add_argument("--write", action="store_true", help="write the table into the page of the scheme")
    options = parser.parse_args()
    original = ORIGINALS[options.scheme]
    unknown = sorted(set(filter(None, options.cells.split(","))) - set(original.cells))
    if unknown:
        parser.error(f"--cells: {', '.join(unknown)}: expected {', '.join(original.cells)}")
    cells = [original.cells[name] for name in (options.cells.split(",") if options.cells else original.cells)]
    date = datetime.datetime.now(tz=datetime.UTC).date()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        try:
            library = build(original, options.source, folder)
        except SourceError as error:
            parser.exit(2, f"{parser.prog}: {error}\n")
        files = [scheme_files(pair, library, folder) for pair in original.pairs]
        command = f"python -m validation.originals {options.scheme} --source DIR"
        origin = f"`{command}`, {date}, {version(original, options.source)}"
        rows = [(cell, own_scheme, original_scheme) for cell in cells for own_scheme, original_scheme in files]
        text = agreement(rows, folder, origin, options.runs, LEAST_MS)
    if options.write:
        replace_block(ROOT / "docs" / "schemes" / f"{original.page}.md", f"original {options.scheme}", text)
    print(text)


def build(original: Original, tree: Path, folder: Path) -> Path:
    """Return the plug-in built from the wrapper and from the original's files in `tree`.

    Raises:
        SourceError: a file is missing, or the compiler refuses one.
    """
    missing = [name for name in original.sources if not (tree / name).is_file()]
    if missing:
        raise SourceError(f"{tree}: no {missing[0]}: expected a source tree of {original.source}")
    is_cpp = original.wrapper.endswith(".cc")
    variable, usual = ("CXX", "c++") if is_cpp else ("CC", "cc")
    compiler = shutil.which(os.environ.get(variable, usual))
    if compiler is None:
        raise SourceError(f"no compiler `{usual}`: install one or set {variable}")
    stand_ins = [WRAPPERS / "include" / original.stand_ins] if original.stand_ins else []
    includes = [Path(dumbbell.plugin_include()), *stand_ins, WRAPPERS / "include"]
    includes += [tree / name for name in original.folders]
    library = folder / "liboriginal.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-w", *(["-std=c++17"] if is_cpp else []), *original.options]
    command += [word for include in includes for word in ("-I", str(include))]
    command += [
        str(WRAPPERS / original.wrapper),
        *(str(tree / name) for name in original.sources),
        "-o",
        str(library),
        "-lm",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        errors = [line for line in result.stderr.splitlines() if "error" in line] or result.stderr.splitlines() or ["?"]
        raise SourceError(f"{original.wrapper} does not compile with {tree}, expected {original.source}: {errors[0]}")
    return library


def scheme_files(pair: Pair, library: Path, folder: Path) -> tuple[str, str]:
    """Return the scheme files of the built-in controller and of the original, which differ in nothing else."""
    listed_scheme = catalog.schemes().find(pair.scheme)
    label = pair.label or pair.scheme
    transport = {**listed_scheme.transport, **pair.transport}
    own_scheme = replace(
        listed_scheme,
        name=label,
        aliases=(),
        transport=transport,
        parameters=listed_scheme.parameters | dict(pair.parameters),
    )
    original_scheme = replace(
        own_scheme,
        name=f"{label}-original",
        kind="plugin",
        code=str(library),
        controller="original",
        parameters=dict(pair.original),
    )
    return _write_scheme(own_scheme, folder), _write_scheme(original_scheme, folder)


def _write_scheme(scheme: Scheme, folder: Path) -> str:
    file = folder / f"{scheme.name}.toml"
    file.write_text(scheme.to_toml())
    return str(file)


def version(original: Original, tree: Path) -> str:
    """Return the repository and the commit of the tree; without git, the commit that the wrapper was written for."""
    repository, _, commit = original.source.partition("@")
    result = subprocess.run(["git", "-C", str(tree), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if result.returncode:
        return f"{repository}, written for {commit}"
    return f"{repository}@{result.stdout[:7]}"


if __name__ == "__main__":
    main()
