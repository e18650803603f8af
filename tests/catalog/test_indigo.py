"""Tests of Indigo and Muses: published figures of the released network, its collapse under jitter, own trainings."""

import json
import math
from pathlib import Path

import pytest

import dumbbell
from support.commands.command import Dumbbell

LINK = '{{ kind = "link", rate_mbps = {}, queue = {} }}'
DELAY = '{{ kind = "delay", delay_ms = {} }}'
JITTER = '{{ kind = "jitter", distribution = "exponential", mean_ms = {}, redraw_min_ms = 8.0, redraw_max_ms = 24.0 }}'


class Lab:
    """Runs schemes on links of its own."""

    def __init__(self, command: Dumbbell, folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.count = 0

    def flow(
        self, scheme: str, rate_mbps: float, delay_ms: float, queue: str = '"infinite"', jitter_ms: float = 0.0
    ) -> dict[str, float]:
        """Simulate a flow of 30 s alone on a link with a delay in each direction; return its figures."""
        self.count += 1
        elements = [LINK.format(rate_mbps, f"{{ kind = {queue} }}"), DELAY.format(delay_ms)]
        elements += [JITTER.format(jitter_ms)] if jitter_ms else []
        text = f'name = "p{self.count}"\noverhead_bytes = 36\ndata = [{", ".join(elements)}]\n'
        (self.folder / f"p{self.count}.toml").write_text(text + f"ack = [{DELAY.format(delay_ms)}]\n")
        words = ("--path", f"p{self.count}.toml", "--runs", "1", "--duration", "30", "--log", "none")
        command = self.command("run", "--schemes", scheme, *words, "--out", f"out{self.count}", "--json")
        flow_figures = json.loads(command.stdout)["runs"][0]["flows"][0]
        return {key: flow_figures[key] for key in ("throughput_mbps", "delay_p95_ms", "loss_rate")}


@pytest.fixture
def lab(dumbbell: Dumbbell, folder: Path) -> Lab:
    return Lab(dumbbell, folder)


@pytest.mark.parametrize("scheme", ["indigo", "indigo-retrained", "indigo-no-calib-retrained"])
def test_12_mbps_with_60_packets_is_near_what_was_published(lab: Lab, scheme: str) -> None:
    # The reference is facebookresearch/mvfst-rl, issue 15: 11.36 Mbit/s, 40.1 ms, 0.13 %, in mahimahi.
    flow = lab.flow(scheme, 12.0, 30.0, '"droptail", packets = 60')
    assert flow["throughput_mbps"] == pytest.approx(11.36, rel=0.06)
    assert flow["delay_p95_ms"] == pytest.approx(40.1, rel=0.12)
    assert flow["loss_rate"] < 0.005


@pytest.mark.parametrize(
    ("jitter_ms", "mbps"),
    # An independent model of the released network.
    [(0.0, 39.9), (2.0, 39.5), (5.0, 20.9), (10.0, 4.6), (15.0, 3.2)],
)
def test_jitter_makes_indigo_collapse(lab: Lab, jitter_ms: float, mbps: float) -> None:
    throughput_mbps = lab.flow("indigo", 40.0, 10.0, jitter_ms=jitter_ms)["throughput_mbps"]
    assert mbps / 1.6 < throughput_mbps < mbps * 1.6


def test_what_was_trained_here_is_as_good_as_what_was_released(lab: Lab) -> None:
    def utility(scheme: str) -> float:
        worth = 0.0
        for rate, delay in ((50.0, 20.0), (30.0, 60.0), (70.0, 35.0), (150.0, 20.0)):
            flow = lab.flow(scheme, rate, delay)
            worth += math.log(flow["throughput_mbps"] / rate) - math.log(flow["delay_p95_ms"] / delay)
        return worth / 4.0

    released_utility = utility("indigo")
    for scheme in ("indigo-retrained", "indigo-no-calib-retrained"):
        assert utility(scheme) > released_utility - 0.05, scheme


@pytest.mark.parametrize(("rate", "rtt", "packets"), [(5, 40, 16), (12, 60, 60), (50, 40, 166), (100, 54, 180)])
def test_muses_trained_here_fills_links_and_leaves_their_queues(lab: Lab, rate: int, rtt: int, packets: int) -> None:
    flow = lab.flow("muses-retrained", float(rate), rtt / 2.0, f'"droptail", packets = {packets}')
    assert flow["throughput_mbps"] > 0.9 * rate
    assert flow["delay_p95_ms"] < rtt / 2.0 + 0.7 * packets * 12.0 / rate
    assert flow["loss_rate"] < 0.03


@pytest.mark.parametrize("kind", ["indigo", "muses"])
def test_a_network_of_ones_own_runs_and_does_not_depend_on_jobs(dumbbell: Dumbbell, folder: Path, kind: str) -> None:
    quick = ("--rates-mbps", "10", "--delays-ms", "20", "--paths", "none", "--drawn", "1", "--steps", "60")
    for jobs in ("1", "2"):
        result = dumbbell("train", kind, *quick, "--iterations", "3", "--jobs", jobs, "--out", f"{jobs}.safetensors")
        assert "% as the expert" in result.stderr
    assert (folder / "1.safetensors").read_bytes() == (folder / "2.safetensors").read_bytes()
    dumbbell("train", kind, *quick, "--iterations", "4", "--resume", "--out", "2.safetensors")
    words = ("--set", f"{kind}.weights=2.safetensors", "--rate", "10mbit", "--rtt", "40ms", "--duration", "2")
    dumbbell("run", "--schemes", kind, *words, "--out", "out")
    assert json.loads(dumbbell("show", "out", "--json").stdout)["runs"][0]["status"] == "done"


def test_what_was_shipped_says_how_it_was_trained() -> None:
    folder = Path(dumbbell.__file__).parent / "catalog" / "weights"
    for name in ("indigo/indigo-retrained", "indigo/indigo-no-calib-retrained", "muses/muses-retrained"):
        contents = (folder / f"{name}.safetensors").read_bytes()
        header = json.loads(contents[8 : 8 + int.from_bytes(contents[:8], "little")])
        training = json.loads(header["__metadata__"]["training"])
        assert (training["seed"], training["iteration"]) == (1, training["settings"]["iterations"])
        assert header["__metadata__"]["layers"] == "lstm:1 dense"


def test_a_handshake_that_is_lost_is_repeated(dumbbell: Dumbbell) -> None:
    # A third of the handshake packets or of their answers is lost.
    words = ("--rate", "5mbit", "--rtt", "40ms", "--loss", "30%", "--runs", "12", "--duration", "6")
    dumbbell("run", "--schemes", "indigo", *words, "--out", "out")
    runs = json.loads(dumbbell("show", "out", "--json").stdout)["runs"]
    assert len(runs) == 12
    assert min(run["flows"][0]["throughput_mbps"] for run in runs) > 0.1
