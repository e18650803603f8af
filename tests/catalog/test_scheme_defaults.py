"""Tests of docs/schemes/defaults.md against the code, and of Copa by its paper against Reno."""

import json
import re
from pathlib import Path

import pytest

from dumbbell import _core, catalog
from support.commands.command import Dumbbell

PAGE = Path(__file__).parents[2] / "docs/schemes/defaults.md"

Row = dict[str, str]


def table(heading: str) -> list[Row]:
    """Return the rows of the first table below a heading; their cells have the names of their columns."""
    lines = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0].splitlines()
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    head, _, *body = rows
    assert all(len(row) == len(head) for row in body)
    return [dict(zip(head, row, strict=True)) for row in body]


def text_of(value: object) -> str:
    """Return a default in the form of the page."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def agrees(own_value: str, source_value: str) -> bool:
    """Return True if a value is the source's, which may be a sum of fractions or a bound."""
    source_value = source_value.strip("`")
    if own_value == source_value:
        return True
    if match := re.fullmatch(r"at (most|least) ([\d.]+)", source_value):
        return float(own_value) <= float(match[2]) if match[1] == "most" else float(own_value) >= float(match[2])
    if not re.fullmatch(r"[\d.]+/[\d.]+( \+ [\d.]+/[\d.]+)?", source_value):
        return False
    parts = (part.split("/") for part in source_value.split(" + "))
    return float(own_value) == pytest.approx(sum(float(above) / float(below) for above, below in parts), rel=1e-3)


def test_every_parameter_of_every_controller_has_its_row_with_its_default() -> None:
    code = {
        (controller["name"], parameter["name"]): text_of(parameter["default"])
        for controller in json.loads(_core.controllers())
        for parameter in controller["parameters"]
    }
    page = table("Parameters of controllers")
    assert {(row["controller"], row["parameter"]): row["our default"] for row in page} == code
    assert len(page) == len(code)


def test_every_parameter_that_a_scheme_sets_has_its_row_with_its_value() -> None:
    names = {catalog.schemes().find(name).name for name in catalog.schemes().names()}
    code = {
        (name, parameter): value or "empty"
        for name in names
        for parameter, value in catalog.schemes().find(name).parameters.items()
    }
    page = table("What schemes set")
    assert {(row["scheme"], row["parameter"]): row["our value"] for row in page} == code
    assert len(page) == len(code)


@pytest.mark.parametrize("heading", ["Parameters of controllers", "What schemes set"])
def test_what_differs_from_the_source_says_why(heading: str) -> None:
    for row in table(heading):
        own_value = row.get("our default", row.get("our value", ""))
        assert row["the source's"], row
        assert row["where"], row
        assert agrees(own_value, row["the source's"]) or row["deviation"], row


def test_every_transport_has_its_row_with_its_settings() -> None:
    schemes = [catalog.schemes().find(name) for name in catalog.schemes().names()]
    code = {}
    for scheme in schemes:
        if scheme.kind == "core":
            document = json.loads(_core.transport(json.dumps(scheme.transport)))
            keys = ("profile", "ack_every", "ack_delay_ms", "initial_window", "pacing_gain", "ecn")
            sizes = f"{document['payload_bytes']} + {document['header_bytes']}"
            code[scheme.name] = (sizes, *(text_of(document[key]) for key in keys))
    columns = ("payload + headers, bytes", "profile", "ACK every", "or after ms", "initial window", "paced", "ECN")
    page = table("Transport")
    assert {row["scheme"]: tuple(row[column] for column in columns) for row in page} == code
    assert all(row["the source"] for row in page)


def test_every_controller_has_its_source_and_its_schemes() -> None:
    schemes = {catalog.schemes().find(name).name for name in catalog.schemes().names()}
    page = {row["controller"]: (row["schemes"], row["source"]) for row in table("Sources")}
    assert set(page) == {controller["name"] for controller in json.loads(_core.controllers())}
    for controller, (shown_schemes, source) in page.items():
        users = {name for name in schemes if catalog.schemes().find(name).controller == controller}
        core = {name for name in users if catalog.schemes().find(name).kind == "core"}
        assert set(re.findall(r"[\w-]+", shown_schemes)) == core
        assert source


RENO_PATH = """\
name = "beside-reno"
title = "32 Mbit/s, 60 ms, 160 packets"
provenance = "the path on which Copa without its competitive mode starved"
data = [
    { kind = "link", rate_mbps = 32.0, queue = { kind = "droptail", packets = 160 } },
    { kind = "delay", delay_ms = 30.0 },
]
ack = [{ kind = "delay", delay_ms = 30.0 }]
"""


def test_copa_by_its_paper_shares_with_reno_and_its_delay_only_variant_starves(
    dumbbell: Dumbbell, folder: Path
) -> None:
    (folder / "path.toml").write_text(RENO_PATH)
    mixes = ("--mix", "copa+reno", "--mix", "copa-delay+reno")
    dumbbell("run", *mixes, "--path", "path.toml", "--duration", "120", "--runs", "1", "--exact", "--out", "out")
    runs = {run["scheme"]: run for run in json.loads(dumbbell("show", "out", "--json").stdout)["runs"]}
    rates = {name: [flow["throughput_mbps"] for flow in run["flows"]] for name, run in runs.items()}
    copa, reno = rates["copa+reno"]
    assert 0.4 <= copa / (copa + reno) <= 0.6, rates
    copa, reno = rates["copa-delay+reno"]
    assert copa < 0.06 * reno, rates
    assert reno > 30.0, rates
