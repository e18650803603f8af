"""Tests of the kinds of imports: each is one file, and part of the library, the command, the page and the fuzzer."""

from pathlib import Path

import pytest

import dumbbell as library
from dumbbell.formats import importers
from support.commands.command import Dumbbell
from support.fuzzing.targets import TARGETS
from support.pages.blocks import ROOT

NEW = """\
\"\"\"What a test made up: nothing.\"\"\"

from dumbbell.base.errors import UserError


def read(request):
    raise UserError(f"{request.source}: is read")
"""


def refusal(dumbbell: Dumbbell, *words: str) -> str:
    return dumbbell("import", *words, "--out", "out", expect=2).stderr


def test_every_kind_is_on_the_page_and_is_fuzzed() -> None:
    page = (ROOT / "docs/how-to/imports.md").read_text()
    kinds = library.import_kinds()
    assert [kind for kind in kinds if f"`import {kind}`" not in page] == []
    assert kinds.keys() <= TARGETS.keys()


def test_a_new_file_is_a_new_kind(dumbbell: Dumbbell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_up.py").write_text(NEW)
    monkeypatch.setattr(importers, "_FOLDER", tmp_path)
    monkeypatch.setattr(importers, "__path__", [str(tmp_path)])
    assert library.import_kinds()["made_up"] == "what a test made up: nothing"
    assert "made_up: what a test made up: nothing" in " ".join(dumbbell("import", "--help").stdout.split())
    assert refusal(dumbbell, "made_up", "x") == "dumbbell: x: is read\n"


def test_an_option_of_another_kind_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    for kind, option, takers in (("qlog", "--strict", "pantheon"), ("pantheon", "--scheme=a", "mahimahi, pcap")):
        name = option.partition("=")[0]
        line = f"dumbbell: {name}: is for {takers}, not for {kind}\n"
        assert refusal(dumbbell, kind, ".", option) == line
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "pantheon_metadata.json").write_text("{}")
    line = "dumbbell: --ack: is for mahimahi, not for pantheon\n"
    assert refusal(dumbbell, "pantheon", ".", "--ack=x") == line, "once, and not for each directory"
    line = "dumbbell: --end: is for results, not for scripts of packetdrill\n"
    assert refusal(dumbbell, "packetdrill", "x.pkt", "--end=sender") == line
    with pytest.raises(library.Error, match=r"^strict: is for pantheon, not for ss$"):
        library.import_results("ss", "x", "out", strict=True)
    with pytest.raises(library.Error, match=r"^kind: `packetdrill` makes a file, not results: use `import_file`$"):
        library.import_results("packetdrill", "x", "out")
    with pytest.raises(library.Error, match=r"^kind `pcp` \(did you mean `pcap`\?\): allowed are flent, "):
        library.import_file(library.ImportRequest("pcp", "x", "out"))
    assert library.import_file(library.ImportRequest("pcap", "x", "out")) is None
    with pytest.raises(library.Error, match=r"^kind `pcp` \(did you mean `pcap`\?\): allowed are flent, iperf, "):
        library.import_results("pcp", "x", "out")
