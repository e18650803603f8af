"""Tests of the server: permitted clients, answered requests and refused ones."""

import errno
import http.client
import json
import os
import platform
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page

import dumbbell
from support.commands.command import Dumbbell
from support.shelf import Shelf
from support.waiting import TIMEOUT_S
from web.conftest import Serve, axe, overflow


@pytest.fixture
def results(shelf: Shelf) -> Path:
    """Make three schemes and two mixes, two runs each."""
    return shelf.mixes


class Client:
    """A client like a browser with the address."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host = parts.netloc
        self.token = parse_qs(parts.query)["token"][0]
        self.cookie = f"dumbbell-{parts.port}={self.token}"

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body; header names are given with underscores."""
        all_headers = {"Host": self.host, "Cookie": self.cookie}
        all_headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT_S)
        connection.putrequest(method, path, skip_host=True)
        for name, value in all_headers.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body

    def json(self, path: str) -> Any:  # noqa: ANN401 (whatever is answered)
        """Return an answer as JSON."""
        status, _, body = self.ask(path)
        assert status == 200, body
        return json.loads(body)

    def columns(self, path: str) -> tuple[Any, dict[str, Any]]:
        """Return the meta and the columns of a table; texts as lists."""
        status, _, body = self.ask(path)
        assert status == 200, body
        return decode(body)


def decode(body: bytes) -> tuple[Any, dict[str, Any]]:
    """Return meta and columns of a table in bytes, read by its format and not by dumbbell's code."""
    (length,) = struct.unpack_from("<I", body)
    head = json.loads(body[4 : 4 + length])
    start = (4 + length + 7) // 8 * 8
    kinds = {"f64": "<f8", "f32": "<f4", "u32": "<u4", "i32": "<i4", "u8": "u1"}
    columns = {}
    for column in head["columns"]:
        values = np.frombuffer(body, kinds[column["type"]], column["length"], start + column["offset"])
        names = column.get("names")
        columns[column["name"]] = values if names is None else [dict(enumerate(names)).get(code) for code in values]
    return head["meta"], columns


@pytest.fixture
def client(serve_pages: Serve, results: Path) -> Client:
    """Return a client of these results."""
    return Client(serve_pages(results))


def test_who_has_no_token_and_who_comes_from_elsewhere_is_refused(client: Client) -> None:
    data = "/data/runs.json"
    assert client.ask(data)[0] == 200
    for cookie in ("", "other=1", client.cookie[:-1], f"{client.cookie}x"):
        assert client.ask(data, Cookie=cookie)[0] == 403
    port = client.host.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", ""):
        assert client.ask(data, Host=host)[0] in (400, 421)
    for origin in ("http://evil.example", "null", f"https://{client.host}"):
        assert client.ask(data, Origin=origin)[0] == 403
    assert client.ask(data, Origin=f"http://{client.host}")[0] == 200
    assert client.ask(data, Sec_Fetch_Site="cross-site")[0] == 403
    assert client.ask(data, Sec_Fetch_Site="same-site")[0] == 403  # another port of this machine
    assert client.ask("/?token=wrong", Cookie="")[0] == 403
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.ask(data, method)[0] == 405


def test_the_token_buys_a_cookie_that_scripts_and_other_pages_do_not_get(client: Client) -> None:
    status, headers, body = client.ask(f"/?token={client.token}", Cookie="", Sec_Fetch_Site="cross-site")
    assert status == 200
    assert b'<div id="app">' in body
    assert headers["set-cookie"] == f"{client.cookie}; HttpOnly; SameSite=Strict; Path=/"
    assert "'unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_no_path_leads_out_of_the_results(serve_pages: Serve, shelf: Shelf, tmp_path: Path) -> None:
    results = shelf.copy("mixes", tmp_path / "results")
    client = Client(serve_pages(results))
    secret = results.parent / "secret.txt"
    secret.write_text("secret")
    run = f"/data/run/d1/{_path(results)}/cubic/1"
    (results / "runs" / _path(results) / "cubic" / "1" / "link.txt").symlink_to(secret)
    for path in (
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        f"{run}/files/..%2f..%2f..%2f..%2f..%2fsecret.txt",
        f"{run}/files/link.txt",
        f"{run}/files/%2fetc%2fpasswd",
        "/data/run/d1/..%2f..%2f/cubic/1/facts.json",
        "/data/run/d2/x/cubic/1/facts.json",
        f"/data/run/d1/{_path(results)}/cubic/-1/facts.json",
        f"/data/run/d1/{_path(results)}/cubic/99/facts.json",
        "/application.py",
        "/__init__.py",
    ):
        status, _, body = client.ask(path)
        assert status == 404, path
        assert b"secret" not in body or path.encode() in body


def _path(results: Path) -> str:
    return dumbbell.open(results).runs[0].path


def test_the_table_has_the_numbers_of_show(client: Client, results: Path) -> None:
    facts = client.json("/data/runs.json")
    assert facts["rows"] == 10
    fields = {field["name"]: field for field in facts["fields"]}
    keys = {
        name: client.columns(f"/data/columns/{name}.bin")[1]["values"] for name in ("path", "scheme", "run", "status")
    }
    runs = {(run.path, run.scheme, run.run): run.statistics for run in dumbbell.open(results).runs}
    rows = zip(keys["path"], keys["scheme"], map(int, keys["run"]), strict=True)
    assert set(rows) == set(runs)
    checked_count = 0
    for name, field in fields.items():
        if field["group"] not in ("network", "flow", "link"):
            continue
        values = client.columns(f"/data/columns/{name.replace(':', '%3A')}.bin")[1]["values"]
        for row, value in enumerate(values):
            run: Any = runs[keys["path"][row], keys["scheme"][row], int(keys["run"][row])]
            expected = _by_hand(run, name)
            assert (np.isnan(value) and expected is None) or value == pytest.approx(expected, rel=1e-12), name
            checked_count += expected is not None
    assert checked_count > 300
    assert {"goodput_mbps", "owd_p95_ms", "share:cubic", "share:bbr"} <= fields.keys()


def test_the_pages_get_the_findings_and_the_machines_of_each_directory(client: Client, results: Path) -> None:
    (identity,) = [directory["id"] for directory in client.json("/data/runs.json")["directories"]]
    opened_results = dumbbell.open(results)
    assert client.json("/data/findings.json") == {identity: {"sentences": opened_results.findings, "left_out": {}}}
    (records,) = client.json("/data/records.json").values()
    assert [record["heading"] for record in records][-1] == "Git summary"
    assert f"python: {platform.python_version()}" in records[0]["text"]


def _by_hand(run: Any, name: str) -> float | None:  # noqa: ANN401 (JSON)
    """Return a metric of a run: of the network, else the mean over its flows, else of the bottleneck."""
    keys = ("competing_share", "payload_share")
    if name.startswith("share:"):
        flows = [flow for flow in run["flows"] if flow["scheme"] == name.removeprefix("share:")]
        shares = [next((flow[key] for key in keys if flow.get(key) is not None), None) for flow in flows]
        known_shares = [share for share in shares if share is not None]
        return sum(known_shares) if known_shares else None
    value = _deep(run["network"], name)
    if value is not None:
        return value
    of_flows = [value_found for flow in run["flows"] if (value_found := _deep(flow, name)) is not None]
    if of_flows:
        return sum(of_flows) / len(of_flows)
    return _deep(run["links"][0], name) if run["links"] else None


def _deep(table: Any, name: str) -> float | None:  # noqa: ANN401 (JSON)
    for key in name.split("."):
        table = table.get(key) if isinstance(table, dict) else None
    return float(table) if isinstance(table, int | float) and not isinstance(table, bool) else None


def test_runs_that_were_not_made_are_rows_with_the_reason(serve_pages: Serve, shelf: Shelf, tmp_path: Path) -> None:
    part = shelf.copy("mixes", tmp_path / "part")
    for file in (part / "results.sqlite", part / "results.sqlite-wal", part / "results.sqlite-shm"):
        file.unlink(missing_ok=True)
    shutil.rmtree(part / "runs" / _path(part) / "bbr" / "2")
    client = Client(serve_pages(part))
    assert client.json("/data/runs.json")["rows"] == 10
    status = client.columns("/data/columns/status.bin")[1]["values"]
    reason = client.columns("/data/columns/reason.bin")[1]["values"]
    goodput = client.columns("/data/columns/goodput_mbps.bin")[1]["values"]
    assert status.count("done") == 9
    row = status.index("missing")
    assert "not run" in reason[row]
    assert np.isnan(goodput[row])
    assert not (part / "results.sqlite").exists()


def test_what_is_not_allowed_is_said_in_a_line(client: Client, results: Path) -> None:
    run = f"/data/run/d1/{_path(results)}/cubic/1"
    for path, status in (
        ("/data/columns/nonsense.bin", 404),
        (f"{run}/window.bin", 400),
        (f"{run}/window.bin?from=x&to=1&columns=10", 400),
        (f"{run}/window.bin?from=0&to=1&columns=1000000", 400),
        (f"{run}/packets.bin?from=0&to=1&flow=1&most=100000000000", 400),
        (f"{run}/life.json?flow=0&seq=1", 400),
        ("/data/moved.json?base=d1&other=nothing", 400),
    ):
        code, headers, body = client.ask(path)
        assert code == status, (path, body)
        assert headers["content-type"].startswith("text/plain")
        assert len(body.splitlines()) == 1


def test_bad_usage(dumbbell: Any, results: Path, tmp_path: Path) -> None:  # noqa: ANN401 (the fixture)
    for words, message in (
        (["serve", tmp_path / "nothing"], "no such directory"),
        (["serve", results, results], "given twice"),
        (["serve", results, "--port", "99999999"], "port"),
        (["site", results, "--out", results], "exists already: choose another --out"),
    ):
        result = dumbbell(*words, expect=2)
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert not result.stdout


@pytest.mark.parametrize("form", [pytest.param("serve_pages", id="served"), "site"])
@pytest.mark.smoke
def test_the_pages_come_up_without_a_complaint(
    form: str, request: pytest.FixtureRequest, page: Page, results: Path
) -> None:
    show: Callable[[Path], str] = request.getfixturevalue(form)
    page.goto(show(results))
    page.wait_for_selector("main :has-text('cubic')")
    assert "token" not in page.url
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert overflow(page) <= 0
    assert axe(page) == []


def test_a_site_on_a_full_disk_names_the_file_that_does_not_fit(
    results: Path, dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The error named dumbbell's own page that was copied.
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "sendfile", full)
    result = dumbbell("site", results, "--out", "web", expect=2)
    assert re.fullmatch(r"dumbbell: No space left on device: web/[^/]+\n", result.stderr)
    assert not (folder / "web").exists()
    assert not list(folder.glob(".web*"))
