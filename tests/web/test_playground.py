"""Tests of the playground: its runs are the native ones, its files make the same runs, its page is accessible."""

import gzip
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import dumbbell
from dumbbell import Table, _core
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.options.path_options import make_path
from dumbbell.experiment import resolve
from dumbbell.present.serve.one_run import OneRun
from dumbbell.present.serve.runs_table import Place
from dumbbell.results.directory import open_results
from support.waiting import TIMEOUT_S
from web.conftest import Complaints, axe, overflow

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build/playground"
SCENARIOS = Path(__file__).parent / "playground_scenarios.mjs"

pytestmark = [
    pytest.mark.wasm,
    pytest.mark.skipif(not (BUILT / "simulator.wasm").exists(), reason="not built: make playground"),
]

Scenario = dict[str, Any]


def made_by_the_page(scenarios: list[Scenario]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the page's presets, and the runs that its own code makes of scenarios."""
    command = ["node", str(SCENARIOS), str(BUILT / "catalogue.json")]
    result = subprocess.run(
        command, input=json.dumps(scenarios), capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    document = json.loads(result.stdout)
    return document["presets"], document["made"]


def catalogue() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads((BUILT / "catalogue.json").read_text(encoding="utf-8")))


def flow(scheme: str, start_s: float = 0.0, stop_s: float | None = None, rtt_ms: float | None = None) -> Scenario:
    return {"scheme": scheme, "start_s": start_s, "stop_s": stop_s, "rtt_ms": rtt_ms}


SCHEMES = [scheme["name"] for scheme in catalogue()["schemes"] if not scheme["needs"]] if BUILT.exists() else []

LOSSY = {"loss_percent": 0.1, "jitter_ms": 2, "duration_s": 4, "buffer": 1, "rate_mbps": 12}
PATHS: dict[str, Scenario] = {
    "CoDel": {"queue": "codel", "duration_s": 4},
    "PIE with ECN": {"queue": "pie-ecn", "duration_s": 4},
    "FQ-CoDel": {"queue": "fq-codel", "duration_s": 4},
    "RED": {"queue": "red", "unit": "packets", "buffer": 80, "duration_s": 4},
    "DualPI2": {"queue": "dualpi2", "duration_s": 4, "flows": [flow("prague"), flow("cubic", 0.5)]},
    "COBALT": {"queue": "cobalt", "duration_s": 4},
    "cellular": {"link": "verizon-lte-down", "unit": "unlimited", "duration_s": 8},
    "cellular with an AQM": {"link": "tmobile-umts-up", "queue": "codel", "duration_s": 8},
    "loss and jitter": {"loss_percent": 1, "jitter_ms": 5, "duration_s": 6},
    "slots": {"slot_ms": 10, "duration_s": 6},
    "cross traffic": {"cross_mbps": 6, "duration_s": 6},
    "several flows": {
        "flows": [flow("bbr"), flow("cubic", 1, 4), flow("copa", 2, None, 90), flow("indigo", 2.5), flow("webrtc")],
        "duration_s": 6,
    },
    "a fast start": {"flows": [flow("copa"), flow("copa")], "faster_ms": 1, "cross_mbps": 1, "duration_s": 4},
}


# The digest of crates/playground, over the packet log of a native run.

_MASK = (1 << 64) - 1
_MIX = 0x9E3779B97F4A7C15
_EVENTS = (
    *("send", "enqueue", "dequeue", "drop", "mark", "deliver", "opportunity"),
    *("ack_send", "ack_drop", "ack_mark", "ack_deliver", "ack_opportunity", "lost", "acked", "restored"),
)
_COLUMNS = ("time_ns", "flow", "event", "seq", "size_bytes", "data_bytes", "one_way_delay_ns")


def digest(packets: Table) -> str:
    state = records = 0
    codes = {name: code for code, name in enumerate(_EVENTS)}
    rows = zip(*(packets[name].tolist() for name in _COLUMNS), strict=True)
    for time_ns, number, event, seq, size, data, delay in rows:
        for word in (time_ns, number << 8 | codes[event], seq, size << 32 | data, delay & _MASK):
            state = ((((state << 23) | (state >> 41)) & _MASK) ^ word) * _MIX & _MASK
        records += 1
    return f"{state ^ state >> 29 ^ (records * _MIX & _MASK):016x}"


def native(specification: dict[str, Any]) -> str:
    """Return the digest of the native run; weights are those of the playground's folder."""
    text = json.dumps(specification).replace('"weights/', f'"{BUILT}/weights/')
    return digest(dumbbell.simulate(json.loads(text), trust=True).packets())


IN_WORKER = """
async (scenarios) => {
    const worker = new Worker("worker.js", { type: "module" });
    const digests = [];
    for (const [index, { specification, files }] of scenarios.entries()) {
        const id = index + 1;
        digests.push(await new Promise((resolve) => {
            worker.onmessage = ({ data }) => {
                if (data.id !== id) return;
                if (data.kind === "done") resolve(JSON.parse(data.totals).digest);
                if (data.kind === "failed") resolve(data.why);
            };
            worker.postMessage({ kind: "run", id, specification: JSON.stringify(specification), files, watched: [] });
        }));
    }
    worker.terminate();
    return digests;
}
"""


@pytest.fixture
def playground(page: Page, files_served: Callable[[Path], str]) -> str:
    """Open the playground in the page; return its address."""
    address = files_served(BUILT)
    page.goto(address)
    wait_for_digest(page)
    return address


def wait_for_digest(page: Page) -> str:
    """Wait for the end of the shown run; return its digest."""
    locator = page.locator("[data-digest]")
    locator.wait_for(timeout=60_000)
    return str(locator.get_attribute("data-digest"))


def open_playground(page: Page, address: str) -> str:
    """Open a scenario in a fresh page, and wait for its run; return its digest."""
    page.goto("about:blank")
    page.goto(address)
    return wait_for_digest(page)


def in_browser(page: Page, address: str, page_runs: list[dict[str, Any]]) -> list[str]:
    """Return the digests of runs in a worker of a page from the same origin without a policy."""
    page.goto(f"{address}catalogue.json")
    requests = [{"specification": page_run["specification"], "files": page_run["files"]} for page_run in page_runs]
    page.set_default_timeout(300_000)
    return cast("list[str]", page.evaluate(IN_WORKER, requests))


def test_every_scheme_sends_the_same_packets_as_on_this_machine(page: Page, playground: str) -> None:
    _, page_runs = made_by_the_page([{"change": LOSSY | {"flows": [flow(name)]}} for name in SCHEMES])
    assert len(page_runs) >= 60
    digests = dict(zip(SCHEMES, in_browser(page, playground, page_runs), strict=True))
    assert digests == {
        name: native(page_run["specification"]) for name, page_run in zip(SCHEMES, page_runs, strict=True)
    }


def test_every_kind_of_path_passes_the_same_packets_as_on_this_machine(page: Page, playground: str) -> None:
    two = {"flows": [flow("cubic"), flow("bbr", 0.5)]}
    _, page_runs = made_by_the_page([{"change": two | change} for change in PATHS.values()])
    digests = dict(zip(PATHS, in_browser(page, playground, page_runs), strict=True))
    assert digests == {name: native(page_run["specification"]) for name, page_run in zip(PATHS, page_runs, strict=True)}


def specification_of(toml: str) -> dict[str, Any]:
    """Return the run spec that `dumbbell run` passes to the core."""
    experiment = resolve(ExperimentFile.from_toml(toml))
    (run,) = experiment.all_runs()
    return cast("dict[str, Any]", json.loads(json.dumps(experiment.specification(run))))


def with_file_names(specification: dict[str, Any]) -> dict[str, Any]:
    """Return the run spec with the names of weights, without their folders."""
    for one_flow in specification["flows"]:
        one_flow["parameters"] = {
            key: Path(value).name if "/" in value else value for key, value in one_flow["parameters"].items()
        }
    return specification


def test_the_downloaded_file_is_the_run_that_the_page_shows() -> None:
    presets, _ = made_by_the_page([])
    scenarios = [{"preset": preset["name"]} for preset in presets]
    scenarios += [{"change": {"flows": [flow(name)]}} for name in SCHEMES]
    scenarios += [{"change": change} for change in PATHS.values()]
    scenarios += [{"change": {"unit": "ms", "buffer": 33.3, "rate_mbps": 7.77, "seed": 9, "duration_s": 70}}]
    _, page_runs = made_by_the_page(scenarios)
    for page_run in page_runs:
        assert with_file_names(specification_of(page_run["toml"])) == with_file_names(page_run["specification"]), (
            page_run["toml"]
        )


def test_a_path_is_the_one_that_the_words_of_the_command_line_make() -> None:
    words: list[tuple[Scenario, dict[str, str]]] = [
        ({"buffer": 1}, {"rate": "20mbit", "rtt": "40ms", "queue": "1bdp"}),
        ({"buffer": 0.3, "rate_mbps": 7.7, "rtt_ms": 33}, {"rate": "7.7mbit", "rtt": "33ms", "queue": "0.3bdp"}),
        ({"buffer": 70, "unit": "ms"}, {"rate": "20mbit", "rtt": "40ms", "queue": "70ms"}),
        ({"buffer": 55, "unit": "packets"}, {"rate": "20mbit", "rtt": "40ms", "queue": "55p"}),
        (
            {"loss_percent": 0.25, "jitter_ms": 3},
            {"rate": "20mbit", "rtt": "40ms", "queue": "4bdp", "loss": "0.25%", "jitter": "3ms"},
        ),
    ]
    words += [
        ({"queue": name["name"], "buffer": 2}, {"rate": "20mbit", "rtt": "40ms", "queue": "2bdp", "aqm": name["name"]})
        for name in catalogue()["queues"]
        if name["name"] != "fifo"
    ]
    _, page_runs = made_by_the_page([{"change": change} for change, _ in words])
    for page_run, (_, settings) in zip(page_runs, words, strict=True):
        path = dict(make_path(**settings).spec())
        assert page_run["specification"]["path"] == path, settings


def test_dumbbell_run_with_the_downloaded_file_writes_the_same_packet_log(
    page: Page, playground: str, tmp_path: Path
) -> None:
    scenario = "#flows=copa,reno@1-3,webrtc@0.5~80&duration_s=5&queue=codel&loss_percent=0.2&cross_mbps=2"
    shown_digest = open_playground(page, f"{playground}{scenario}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as TOML").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    results = dumbbell.run(file, out=tmp_path / "results")
    (run,) = results.runs
    assert digest(run.packets()) == shown_digest


def test_whatever_the_address_says_is_a_run() -> None:
    addresses = [
        "#flows=cubic,nobody",
        "#rate_mbps=fast",
        "#preset=none",
        "#rate_mbps=1e99&rtt_ms=-5&duration_s=NaN&seed=0.5",
        "#flows=cubic@9e9,bbr@-1",
        "#flows=bbr@1e-7-2e-7",
        *(f"#{name}=1e-320" for name in ("slot_ms", "cross_mbps", "jitter_ms", "faster_ms", "loss_percent")),
    ]
    for page_run in made_by_the_page([{"address": text} for text in addresses])[1]:
        _core.check_run(json.dumps(page_run["specification"]))


def test_every_preset_runs_and_tells_its_source(page: Page, playground: str) -> None:
    presets, _ = made_by_the_page([])
    assert len(presets) == 7
    for preset in presets:
        page.goto(f"{playground}#preset={preset['name']}")
        page.get_by_role("heading", name=preset["title"]).wait_for()
        wait_for_digest(page)
        assert page.locator(".panel").count() >= 5
        for source in preset["sources"]:
            link = page.get_by_role("link", name=source["text"])
            assert str(link.get_attribute("href")).startswith("https://")


@pytest.mark.usefixtures("playground")
def test_a_slider_makes_a_new_run_while_the_reader_looks(page: Page) -> None:
    slider = page.get_by_role("slider", name="Rate", exact=True)
    slider.focus()
    before = wait_for_digest(page)
    took = []
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "(old) => { const at = document.querySelector('[data-digest]'); return at && at.dataset.digest !== old }",
            arg=before,
        )
        before = wait_for_digest(page)
        text = page.locator("[data-digest]").locator("xpath=..").inner_text()
        took.append(int(text.split("shown ")[1].split(" ms")[0]))
    print("ms from the slider to the run:", took)
    assert min(took) < 1000
    assert "rate_mbps=" in page.url


def test_a_long_run_draws_as_it_goes_and_a_newer_one_ends_it(page: Page, playground: str) -> None:
    page.goto(f"{playground}#rate_mbps=500&duration_s=120&rtt_ms=20")
    page.get_by_role("progressbar").wait_for()
    page.wait_for_function("document.querySelector('progress')?.value > 0")
    assert page.locator(".panel").count() >= 4
    page.goto(f"{playground}#rate_mbps=2&duration_s=5")
    wait_for_digest(page)
    assert "5.0" not in page.locator(".results").inner_text()[:20]
    page.goto(f"{playground}#rate_mbps=500&duration_s=120&rtt_ms=20")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_timeout(300)
    progress = page.evaluate("document.querySelector('progress').value")
    page.wait_for_timeout(300)
    assert page.evaluate("document.querySelector('progress').value") == progress


@pytest.mark.usefixtures("playground")
def test_all_can_be_done_by_keyboard(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="To the pictures")).to_be_focused()
    reached_elements = set()
    for _ in range(90):
        page.keyboard.press("Tab")
        reached_elements.add(
            page.evaluate(
                "(({ activeElement: at }) => at.getAttribute('aria-label') || at.id || at.textContent)(document)"
            )
        )
    assert {
        "Starvation",
        "Scheme of flow 1",
        "Add a flow",
        "setting-rate_mbps",
        "setting-buffer",
        "Download as TOML",
    } <= reached_elements
    page.locator(".tools").get_by_role("button", name="zoom in").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".where")).to_contain_text("5.00 s to 15.00 s")
    page.keyboard.press("0")
    expect(page.locator(".where")).to_contain_text("0.00 s to 20.00 s")
    page.get_by_role("button", name="Add a flow").focus()
    page.keyboard.press("Enter")
    page.get_by_role("combobox", name="Scheme of flow 2").select_option("bbr")
    wait_for_digest(page)
    expect(page.locator(".legend")).to_contain_text("BBR")


@pytest.mark.parametrize("colors", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible_and_fits(
    page: Page, files_served: Callable[[Path], str], colors: str, width: int
) -> None:
    page.emulate_media(color_scheme=cast("Any", colors))
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{files_served(BUILT)}#preset=bbr-cubic")
    wait_for_digest(page)
    assert axe(page) == []
    assert overflow(page) == 0
    page.locator("aside summary").click()
    assert overflow(page) == 0
    assert axe(page) == []


def test_charts_say_what_they_show(page: Page, playground: str) -> None:
    open_playground(page, f"{playground}#preset=rtt")
    label = page.get_by_role("img", name="Throughput in Mbit/s").get_attribute("aria-label")
    assert label is not None
    assert "(flow 1)" in label
    assert "(flow 2)" in label


SMALL = "#flows=cubic,reno@0.5&duration_s=4&loss_percent=0.3&buffer=1&rate_mbps=12"

LIVES = """
async ([specification, asked]) => {
    const worker = new Worker("worker.js", { type: "module" });
    const told = (wanted) => new Promise((resolve) => {
        worker.onmessage = ({ data }) => {
            if (data.kind === wanted) resolve(data);
        };
    });
    const done = told("done");
    worker.postMessage({ kind: "run", id: 1, specification: JSON.stringify(specification), files: [], watched: [] });
    await done;
    const lives = [];
    for (const [flow, seq] of asked) {
        const answer = told("answer");
        worker.postMessage({ kind: "life", ask: 1, flow, seq });
        lives.push(JSON.parse((await answer).answer).packet);
    }
    worker.terminate();
    return lives;
}
"""


def lives_of(log: Table) -> dict[tuple[int, int], dict[str, int]]:
    """Return the events of each packet with their times, by flow and number, from a packet log."""
    steps = {"send": "send_ns", "drop": "drop_ns", "deliver": "deliver_ns", "lost": "lost_ns"}
    lives: dict[tuple[int, int], dict[str, int]] = {}
    columns = (log[name].tolist() for name in ("flow", "seq", "event", "time_ns"))
    for number, seq, event, time_ns in zip(*columns, strict=True):
        if event in steps:
            lives.setdefault((number, seq), {}).setdefault(steps[event], time_ns)
    return lives


def test_the_life_of_a_packet_is_that_of_the_native_run(page: Page, playground: str) -> None:
    _, (page_run,) = made_by_the_page([{"address": SMALL}])
    lives = lives_of(dumbbell.simulate(page_run["specification"]).packets())
    open_playground(page, f"{playground}{SMALL}")
    page.locator("b[data-packets=sent]").wait_for()
    page.locator(".stack").focus()
    for _ in range(20):
        page.keyboard.press("n")
    page.keyboard.press("Enter")
    life = page.get_by_role("region", name="Life of a packet")
    assert life.locator("h3").inner_text().startswith("Packet 19 of flow 1, ")
    shown_steps = {
        str(row.get_attribute("data-step")): round(float(row.locator("td").first.inner_text().split(" ")[0]) * 1e9)
        for row in life.locator("tr[data-step]").all()
    }
    assert shown_steps == lives[1, 19]
    expect(life.locator("li").first).to_contain_text("Sent at ")

    dropped_packets = [name for name, steps in lives.items() if "drop_ns" in steps][:20]
    assert len(dropped_packets) >= 10
    page.goto(f"{playground}catalogue.json")
    packets = dropped_packets + list(lives)[::100]
    for name, steps in zip(packets, page.evaluate(LIVES, [page_run["specification"], packets]), strict=True):
        times = {step: time for step, time in steps.items() if step.endswith("_ns") and time is not None}
        assert times == lives[name], name


def test_a_sentence_of_the_reading_shows_its_place(page: Page, playground: str, tmp_path: Path) -> None:
    open_playground(page, f"{playground}{SMALL}")
    sentences = page.locator(".why button")
    sentences.first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as TOML").click()
    download.value.save_as(tmp_path / "playground.toml")
    dumbbell.run(tmp_path / "playground.toml", out=tmp_path / "results")
    results = open_results(tmp_path / "results")
    (run,) = results.planned()
    sentence_list = json.loads(OneRun(Place("d1", "results", results), run).reading())["sentences"]
    assert sentences.all_inner_texts() == [sentence["text"].replace("`", "") for sentence in sentence_list]

    number = next(at for at, sentence in enumerate(sentence_list) if sentence["flow"] == 2 and sentence["to_ns"] < 3e9)
    sentences.nth(number).click()
    expect(sentences.nth(number)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".highlight")).to_have_count(1)
    expect(page.get_by_role("combobox", name="packets of")).to_have_value("2")
    first, last = (float(text.split(" ")[0]) for text in page.locator(".where b").all_inner_texts())
    assert first <= sentence_list[number]["from_ns"] / 1e9 <= sentence_list[number]["to_ns"] / 1e9 <= last
    assert last - first < 4
    page.get_by_role("button", name="all", exact=True).click()
    expect(page.locator(".where")).to_contain_text("0.000 s to 4.000 s")


def test_names_from_outside_never_become_markup(page: Page, playground: str, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=window.hit=1>"
    page.goto(f"{playground}#flows={hostile}&preset={hostile}&link={hostile}&rate_mbps={hostile}")
    page.get_by_role("alert").wait_for()
    page.goto(f"{playground}#flows=sage&duration_s=2")
    expect(page.get_by_text("needs a file of yours")).to_be_visible()
    file = tmp_path / "x<img src=y onerror=window.hit=1>.safetensors"
    file.write_bytes(b"<script>window.hit=1</script>")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("alert").wait_for()
    assert page.evaluate("window.hit") is None
    assert page.locator("img[src], main script").count() == 0


def test_a_dropped_file_is_used(page: Page, playground: str, tmp_path: Path) -> None:
    file = tmp_path / "my tables.json"
    shutil.copy(BUILT / "weights/tao-10x.json", file)
    page.goto("about:blank")
    page.goto(f"{playground}#flows=tao&duration_s=3")
    page.locator("input[type=file]").set_input_files(file)
    shown_digest = wait_for_digest(page)
    _, (page_run,) = made_by_the_page(
        [{"change": {"flows": [flow("tao")], "duration_s": 3}, "own": {"tao": str(file)}}]
    )
    assert native(page_run["specification"]) == shown_digest
    assert specification_of(page_run["toml"]) == page_run["specification"]


def test_it_works_without_a_server_once_it_is_loaded(
    context: BrowserContext, page: Page, playground: str, complaints: Complaints
) -> None:
    page.wait_for_function("navigator.serviceWorker.ready.then(() => true)")
    context.set_offline(True)
    page.get_by_role("combobox", name="Scheme of flow 1").select_option("indigo")
    page.wait_for_function("document.querySelector('.legend').textContent.includes('Indigo')")
    wait_for_digest(page)
    page.goto(f"{playground}#preset=copa")
    page.reload()
    page.get_by_role("heading", name="Copa's mode switch").wait_for()
    wait_for_digest(page)
    complaints.clear()


def test_nothing_is_asked_of_anybody_else(page: Page, files_served: Callable[[Path], str]) -> None:
    address = files_served(BUILT)
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.goto(address)
    wait_for_digest(page)
    assert all(url.startswith((address, "data:", "blob:")) for url in addresses), addresses


def test_the_policy_of_the_page_is_strict() -> None:
    text = (BUILT / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'" in text
    assert "require-trusted-types-for 'script'" in text
    assert "unsafe-inline" not in text
    assert "'unsafe-eval'" not in text
    assert "style=" not in text


def test_the_module_is_small_and_needs_nothing(page: Page, playground: str) -> None:
    module = (BUILT / "simulator.wasm").read_bytes()
    size = len(gzip.compress(module, 9))
    print("simulator.wasm, gzip:", size)
    assert size <= 1_000_000
    page.goto(f"{playground}catalogue.json")
    imports = "WebAssembly.compileStreaming(fetch('simulator.wasm')).then(WebAssembly.Module.imports)"
    assert page.evaluate(imports) == []


def test_the_folder_has_what_the_schemes_need() -> None:
    for scheme in catalogue()["schemes"]:
        for parameter, size in scheme["files"].items():
            assert (BUILT / scheme["parameters"][parameter]).stat().st_size == size
