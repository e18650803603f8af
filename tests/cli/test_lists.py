"""Tests of lists, which fit and can be filtered, and of tables, which can be sorted and written as CSV."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

import dumbbell as library
from support.commands.command import Dumbbell

RUN = ("run", "--schemes", "reno,vegas", "--path", "small.toml", "--duration", "2", "--runs", "2", "--out", "out")


@pytest.mark.parametrize("list_name", ["schemes", "paths", "experiments", "metrics", "parameters"])
def test_lists_fit_into_100_columns_and_leave_nothing_out(dumbbell: Dumbbell, list_name: str) -> None:
    text = dumbbell("list", list_name).stdout
    lines = [line for line in text.splitlines() if " cannot run here: " not in line]
    assert max(map(len, lines)) <= 100
    for row in json.loads(dumbbell("list", list_name, "--json").stdout):
        assert row["name"] in text
    if list_name in ("metrics", "parameters"):
        for row in json.loads(dumbbell("list", list_name, "--json").stdout):
            assert "".join(row["formula" if list_name == "metrics" else "help"].split()) in re.sub(r"\s", "", text)


def test_a_wider_terminal_shows_more(dumbbell_afresh: Dumbbell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "source" not in dumbbell_afresh("list", "schemes").stdout.splitlines()[0]
    monkeypatch.setenv("COLUMNS", "220")
    assert "source" in dumbbell_afresh("list", "schemes").stdout.splitlines()[0]
    monkeypatch.setenv("COLUMNS", "60")
    lines = dumbbell_afresh("list", "schemes", "copa").stdout.splitlines()
    # below the table are notes on schemes that this machine lacks
    assert max(len(line) for line in lines if " cannot run here: " not in line) <= 80


def test_lists_are_filtered_by_text_and_kind(dumbbell: Dumbbell) -> None:
    def names(*words: str) -> list[str]:
        return [row["name"] for row in json.loads(dumbbell("list", *words, "--json").stdout)]

    assert names("schemes", "--kind", "kernel") == ["kernel-bbr", "kernel-cubic", "kernel-reno"]
    assert set(names("schemes", "COPA", "--kind", "bpf")) == {"bpf-copa-delay"}
    assert "india-aws-india" in names("paths", "pantheon-4")
    assert names("metrics", "jain", "ccperf")
    assert all("copa" in name for name in names("schemes", "copa"))
    result = dumbbell("list", "schemes", "nothing-like-this")
    assert (result.stdout, result.stderr) == ("", "none of the schemes has `nothing-like-this` in it\n")
    assert "--kind `kernl` (did you mean `kernel`?)" in dumbbell("list", "schemes", "--kind", "kernl", expect=2).stderr
    assert "--kind: allowed of schemes only" in dumbbell("list", "paths", "--kind", "kernel", expect=2).stderr
    assert [row["name"] for row in library.listing("schemes", "copa", kind="bpf")] == ["bpf-copa-delay"]


def test_a_schemes_file_is_listed_and_needs_no_kind(dumbbell: Dumbbell, folder: Path) -> None:
    # `list` found none of the schemes, and `check` printed: unknown key `file`.
    (folder / "mine.py").write_text(
        "class Mine:\n    def __init__(self, start, gain: float = 1.5):\n        pass\n"
        "    def on_ack(self, ack):\n        pass\n    def control(self):\n        return 20000\n"
    )
    (folder / "mine.toml").write_text('file = "mine.py"\nclass = "Mine"\ntransport = { profile = "quic" }\n')
    (folder / "built-in.toml").write_text('controller = "reno"\n')
    (row,) = json.loads(dumbbell("list", "schemes", "mine.toml", "--json").stdout)
    assert (row["name"], row["kind"], row["transport"]) == ("mine", "python", {"profile": "quic"})
    (row,) = json.loads(dumbbell("list", "parameters", "mine.toml", "--json").stdout)
    assert (row["controller"], row["name"], row["default"]) == ("Mine", "gain", 1.5)
    rows = json.loads(dumbbell("list", "parameters", "built-in.toml", "--json").stdout)
    assert {row["controller"] for row in rows} == {"reno"}


def test_results_are_sorted_by_a_metric_best_first(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)

    def order(metric: str | None) -> list[str]:
        lines = dumbbell("show", "out", *(() if metric is None else ("--sort", metric))).stdout.splitlines()
        return [line.split()[1] for line in lines if line.startswith("small ")]

    means = {
        group.scheme: group.estimate(("network", 0, "delay_p95_ms")) for group in library.open(folder / "out").summary()
    }
    assert means["vegas"].mean < means["reno"].mean  # type: ignore[union-attr]
    assert order("delay_p95_ms") == ["vegas", "reno"]
    assert order("throughput_mbps") == ["reno", "vegas"]
    assert order("goodput_mbps") == ["reno", "vegas"]
    assert order(None) == ["reno", "vegas"]  # by the first column
    command_options = ("--schemes", "vegas,reno", "--path", "small.toml", "--duration", "2", "--out", "other")
    output = dumbbell("run", *command_options).stdout
    goodput_of = {run.scheme: run.statistics["network"]["goodput_mbps"] for run in library.open(folder / "other").runs}
    assert re.findall(r"(?m)^small +(\w+)", output) == sorted(goodput_of, key=lambda scheme: -goodput_of[scheme])
    printed_text = dumbbell("show", "other", "--sort", "given").stdout
    assert re.findall(r"(?m)^small +(\w+)", printed_text) == ["vegas", "reno"]
    assert order("mean_cwnd_l4")[0] == "reno"  # neither is better: the highest first
    lines = dumbbell("show", "out", "--metrics", "delay_p95_ms", "--sort", "delay_p95_ms").stdout.splitlines()
    assert lines[1].split()[1] == "vegas"
    unknown = dumbbell("show", "out", "--sort", "delay_p96_ms", expect=2).stderr
    assert "unknown metric `delay_p96_ms` (did you mean `delay_p95_ms`?)" in unknown
    assert "--sort fct_mean_s: no run has it" in dumbbell("show", "out", "--sort", "fct_mean_s", expect=2).stderr
    assert "--sort: not with --json" in dumbbell("show", "out", "--sort", "loss_rate", "--json", expect=2).stderr


def test_some_paths_and_schemes_are_shown(dumbbell: Dumbbell, folder: Path) -> None:
    command_options = ("--schemes", "reno,vegas", "--mix", "reno+vegas", "--path", "small.toml,lossy.toml")
    dumbbell("run", *command_options, "--duration", "1", "--out", "out")

    def shown_pairs(*words: str) -> set[tuple[str, str]]:
        output = dumbbell("show", "out", *words).stdout
        rows = csv.DictReader(io.StringIO(dumbbell("show", "out", *words, "--csv").stdout))
        listed_pairs = {
            (run["path"], run["scheme"]) for run in json.loads(dumbbell("show", "out", *words, "--json").stdout)["runs"]
        }
        assert {(row["path"], row["scheme"]) for row in rows} == listed_pairs
        assert set(re.findall(r"(?m)^(small|lossy) +(\S+)", output)) == listed_pairs
        assert ("Shares" in output) == any("+" in scheme for _, scheme in listed_pairs)
        return listed_pairs

    assert shown_pairs("--path", "small") == {("small", scheme) for scheme in ("reno", "vegas", "reno+vegas")}
    assert shown_pairs("--schemes", "vegas") == {("small", "vegas"), ("lossy", "vegas")}
    assert shown_pairs("--path", "lossy,small", "--schemes", "reno+vegas,reno") == {
        (path, scheme) for path in ("small", "lossy") for scheme in ("reno", "reno+vegas")
    }
    for words, message in (
        (("--path", "smal"), "unknown path `smal` (did you mean `small`?): allowed are small, lossy\n"),
        (("--schemes", "cubic"), "unknown scheme `cubic`: allowed are reno, vegas, reno+vegas\n"),
    ):
        for command in (("show", "out"), ("figure", "out", "means")):
            assert dumbbell(*command, *words, expect=2).stderr == f"dumbbell: {message}"
    several = dumbbell("figure", "out", "means", "--path", "small,lossy", expect=2).stderr
    assert several == "dumbbell: --path small,lossy: a figure is of one path: choose one of these\n"
    results = library.open(folder / "out").only(path="small").only(schemes=["reno", "vegas"])
    assert [(run.path, run.scheme) for run in results.runs] == [("small", "reno"), ("small", "vegas")]


def test_tables_for_a_paper_are_latex(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(
        "run", "--schemes", "reno", "--mix", "reno+vegas", "--path", "small.toml", "--duration", "3", "--out", "out"
    )
    output = dumbbell("show", "out", "--tex").stdout
    plain = dumbbell("show", "out").stdout
    lines = output.splitlines()
    captions = [caption for _, caption in floats(output)]
    titles = [line for line in plain.splitlines() if line.endswith(" (corrected)")]
    for caption, title in zip(captions, titles, strict=True):
        assert caption.startswith(f"{title}, on small. 1 run of 3 s. Corrected: payload, delays and losses after the ")
        assert "(warm-up: 0.5 s)" in caption
        assert ("Harm: what a flow lost" in caption) == caption.startswith("Shares, 0.5 to 3 s, while all")
    assert [label for label, _ in floats(output)] == ["means-small", "shares-small", "totals-small"]
    alone = next(line for line in lines if line.startswith("TCP NewReno & 1 & "))
    goodput = library.open(folder / "out").run("small", "reno").statistics["network"]["goodput_mbps"]
    assert alone.split(" & ")[2] == f"{goodput:.2f}", "the only path has no column"
    assert any(line.startswith("flows of & who & fair share \\% & share \\% & goodput Mbit/s & ") for line in lines)
    assert any(line.startswith("TCP NewReno + TCP Vegas & TCP Vegas & 50.0 & ") for line in lines)
    assert all(line.startswith(("%", "\\")) or line.endswith("\\\\") for line in lines if line)
    for words, message in ((("--csv",), "--tex: not with --csv"), (("--json",), "--tex: not with --json")):
        assert message in dumbbell("show", "out", "--tex", *words, expect=2).stderr
    printed_text = dumbbell(
        "show", "out", "--tex", "--metrics", "goodput_mbps,mean_srtt_l4", "--schemes", "reno"
    ).stdout
    (caption,) = [caption for _, caption in floats(printed_text)]
    assert caption.startswith("Means over the runs (goodput\\_mbps: corrected, mean\\_srtt\\_l4: ccperf), on small. ")
    assert f"TCP NewReno & network & {goodput:.4f} & --" in printed_text


def floats(text: str) -> list[tuple[str, str]]:
    """Return label and caption of each float: each is complete, its braces are balanced, its rows have one length."""
    labels = []
    for star, block, end in re.findall(r"\\begin\{table(\*?)\}\n(.*?)\\end\{table(\*?)\}\n", text, re.DOTALL):
        assert star == end
        bare = re.sub(r"\\.", "", block).replace("{%\n", "{\n")  # without what is escaped, and the end of a line
        assert bare.count("{") == bare.count("}")
        assert not re.search(r"[#$%^~<>]", bare)
        head = re.fullmatch(
            r"\\centering\n\\caption\{(.*)\}\n\\label\{tab:([a-z0-9-]+)\}\n"
            r"(?:\\resizebox\{\\linewidth\}\{!\}\{%\n)?\\begin\{tabular\}\{([lr]+(?:p\{0\.25\\linewidth\})?)\}\n\\toprule\n"
            r"(.*) \\\\\n\\midrule\n((?:.* \\\\\n)+)\\bottomrule\n\\end\{tabular\}\}?\n",
            block,
        )
        assert head, block
        caption, label, columns, titles, rows = head.groups()
        count = len(re.sub(r"p\{.*\}", "p", columns))
        assert {line.count(" & ") for line in [titles, *rows.splitlines()]} == {count - 1}
        labels.append((label, caption))
    return labels


def test_the_schemes_of_a_family_stand_together(dumbbell: Dumbbell, folder: Path) -> None:
    names = {"vegas": "Vegas, LEDBAT", "reno": "loss or ECN", "ledbat": "Vegas, LEDBAT", "cubic": "loss or ECN"}
    dumbbell("run", "--schemes", ",".join(names), "--path", "small.toml", "--duration", "2", "--out", "out")
    goodput = {run.scheme: run.statistics["network"]["goodput_mbps"] for run in library.open(folder / "out").runs}
    best = sorted(goodput, key=lambda scheme: -goodput[scheme])
    families = dict.fromkeys(names[scheme] for scheme in best)
    expected = [(family, scheme) for family in families for scheme in best if names[scheme] == family]
    output = dumbbell("show", "out", "--sort", "family").stdout
    assert re.findall(r"(?m)^small +(\S.*?)  +(\w+) ", output) == expected
    errors = dumbbell("show", "out", "--sort", "family", "--csv", expect=2).stderr
    assert "--sort family: not with --csv, which has no families" in errors


def test_results_are_written_as_csv(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)
    (folder / "out/runs/small/vegas/1/stats.json").unlink()
    (folder / "out/runs/small/vegas/2/stats.json").unlink()
    result = dumbbell("show", "out", "--csv", "--sort", "loss_rate", expect=1)
    (reno,) = csv.DictReader(io.StringIO(result.stdout))  # of vegas there is nothing to tell
    estimate = library.open(folder / "out").summary()[0].estimate(("network", 0, "goodput_mbps"))
    assert estimate is not None
    assert (reno["path"], reno["scheme"], reno["runs"], reno["good"]) == ("small", "reno", "2", "2")
    assert float(reno["goodput_mbps"]) == estimate.mean
    assert float(reno["goodput_mbps_low"]) == estimate.low
    assert reno["goodput_mbps_bounds"] == estimate.bounds == "range"
    assert "missing: 2 of 4 runs: " in result.stderr
    flows = csv.DictReader(io.StringIO(dumbbell("show", "out", "--csv", "--metrics", "goodput_mbps", expect=1).stdout))
    assert [(row["scheme"], row["level"], row["number"]) for row in flows] == [
        ("reno", "network", "0"),
        ("reno", "flow", "1"),
    ]
