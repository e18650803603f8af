"""Tests of WebRTC in real browsers: the parts without a browser, then calls over emulated paths if there is one."""

import array
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

from dumbbell import catalog
from dumbbell.catalog.outside.availability import missing
from dumbbell_webrtc import sdp
from dumbbell_webrtc.__main__ import main
from dumbbell_webrtc.browser import BINARY, Browser, Setup
from dumbbell_webrtc.errors import CallError
from dumbbell_webrtc.page import Page
from dumbbell_webrtc.pipe import DevTools
from dumbbell_webrtc.rendezvous import Host, join
from dumbbell_webrtc.samples import Record, Writer, values
from dumbbell_webrtc.trace import Trace
from dumbbell_webrtc.trials import Expectation, controller, expected, parse, unknown
from dumbbell_webrtc.validity import Conduct
from support.commands.command import Dumbbell
from support.inputs.paths import path_text
from support.machine import need_real_packets
from support.punctual import Punctual, Run, runs_of
from support.waiting import TIMEOUT_S, wait_for

SCREAM = "WebRTC-Bwe-ScreamV2/mode:always/"
L4S = SCREAM + "WebRTC-RFC8888CongestionControlFeedback/Enabled,offer:true/"


class FakeBrowser:
    """Answers DevTools calls by a table: with a result, an error text, or not at all."""

    def __init__(self, answers: dict[str, Any]) -> None:
        commands, events = os.pipe(), os.pipe()
        self._in, self._out = commands[0], events[1]
        self._ending = threading.Lock()
        self.answers = answers
        self.heard: list[dict[str, Any]] = []
        self.devtools = DevTools(events[0], commands[1])
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def say(self, message: dict[str, Any], pieces: int = 1) -> None:
        """Send a message, in `pieces` pieces."""
        text = json.dumps(message).encode() + b"\0"
        size = -(-len(text) // pieces)
        for begin in range(0, len(text), size):
            if begin:
                wait_for(self._is_read)
            os.write(self._out, text[begin : begin + size])

    def _is_read(self) -> bool:
        """Return True if no piece is left in the pipe."""
        size = array.array("i", [0])
        fcntl.ioctl(self._out, termios.FIONREAD, size)
        return size[0] == 0

    def end(self) -> None:
        """Close the output as if the browser had been killed; from any thread."""
        # The descriptor is taken before it is closed: the close wakes the reader, whose thread may come here first.
        with self._ending:
            out, self._out = self._out, -1
        if out >= 0:
            os.close(out)

    def close(self) -> None:
        """Release everything."""
        self.end()
        self.devtools.close()
        self._thread.join()
        os.close(self._in)

    def _serve(self) -> None:
        rest = b""
        while read := os.read(self._in, 65536):
            *texts, rest = (rest + read).split(b"\0")
            for message in map(json.loads, texts):
                self.heard.append(message)
                answer = self.answers.get(message["method"])
                if isinstance(answer, str):
                    self.say({"id": message["id"], "error": {"message": answer}})
                elif answer is not None:
                    self.say({"id": message["id"], "result": answer}, pieces=3)


@pytest.fixture(name="fake")
def _fake() -> Iterator[FakeBrowser]:
    fake = FakeBrowser({"Browser.getVersion": {"product": "Fake/1"}, "Page.enable": "no page", "Target.x": {}})
    yield fake
    fake.close()


def test_calls_get_their_own_results(fake: FakeBrowser) -> None:
    assert fake.devtools.call("Browser.getVersion")["product"] == "Fake/1"
    assert fake.devtools.call("Target.x", {"a": "ä"}, session="S") == {}
    assert [message["id"] for message in fake.heard] == [1, 2]
    assert "sessionId" not in fake.heard[0]
    assert (fake.heard[1]["sessionId"], fake.heard[1]["params"]) == ("S", {"a": "ä"})


def test_calls_that_fail_say_which(fake: FakeBrowser) -> None:
    with pytest.raises(CallError, match=r"the browser refuses Page.enable: no page"):
        fake.devtools.call("Page.enable")
    with pytest.raises(CallError, match=r"does not answer Silent.method within 0.05 s"):
        fake.devtools.call("Silent.method", timeout_s=0.05)
    # Nobody waits for a late answer.
    fake.say({"id": 2, "result": {}})
    assert fake.devtools.call("Browser.getVersion")["product"] == "Fake/1"


def test_a_browser_that_goes_away_ends_calls_at_once(fake: FakeBrowser) -> None:
    killing = threading.Thread(target=lambda: wait_for(lambda: fake.heard) and fake.end())
    killing.start()
    with pytest.raises(CallError, match="the browser has ended"):
        fake.devtools.call("Silent.method", timeout_s=TIMEOUT_S)
    with pytest.raises(CallError, match="the browser has ended"):
        fake.devtools.call("Browser.getVersion")
    killing.join()


def fake_page(script_is_there: object = True) -> FakeBrowser:
    enable_answers: dict[str, Any] = {f"{domain}.enable": {} for domain in ("Page", "Runtime", "Inspector", "Fetch")}
    return FakeBrowser(
        {
            "Target.createTarget": {"targetId": "T"},
            "Target.attachToTarget": {"sessionId": "S"},
            "Page.navigate": {},
            "Runtime.evaluate": {"result": {"value": script_is_there}},
            **enable_answers,
        }
    )


def test_a_page_answers_its_own_request_and_reports_what_breaks() -> None:
    with contextlib.closing(fake_page()) as fake:
        page = Page(fake.devtools)
        fake.say({"method": "Fetch.requestPaused", "sessionId": "S", "params": {"requestId": "R"}})
        wait_for(lambda: fake.heard[-1]["method"] == "Fetch.fulfillRequest")
        params = fake.heard[-1]["params"]
        assert (params["requestId"], params["responseCode"]) == ("R", 200)
        page.run("answer", "a\r\n\"'", 5)
        assert fake.heard[-1]["params"]["expression"] == 'peer.answer("a\\r\\n\\"\'", 5)'
        exception = {"exception": {"description": "Error: the browser has no codec X\n    at offer"}}
        fake.answers["Runtime.evaluate"] = {"result": {}, "exceptionDetails": exception}
        with pytest.raises(CallError, match=r"the page's script failed: Error: the browser has no codec X$"):
            page.run("offer", {})
        fake.answers.pop("Runtime.evaluate")
        fake.say({"method": "Inspector.targetCrashed", "sessionId": "S", "params": {}})
        with pytest.raises(CallError, match="the page has crashed"):
            page.run("take", timeout_s=TIMEOUT_S)


OFFER = (
    "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\nb=AS:300\r\na=candidate:1 1 udp 1 10.77.0.1 5 typ host\r\n"
    "a=rtcp-fb:96 transport-cc\r\n"
)


def test_the_bandwidth_goes_below_the_address_of_video_only() -> None:
    with_bandwidth = sdp.with_bandwidth(OFFER, 20000)
    assert with_bandwidth == OFFER.replace("b=AS:300", "b=AS:20000")
    assert sdp.with_bandwidth(with_bandwidth.replace("\r\n", "\n"), 20000) == with_bandwidth


def test_candidates_and_feedback_are_found() -> None:
    assert sdp.candidates(OFFER) == ["a=candidate:1 1 udp 1 10.77.0.1 5 typ host"]
    assert sdp.candidates(OFFER.replace("a=candidate", "a=x-candidate")) == []
    assert not sdp.offers_rfc8888(OFFER)
    assert sdp.offers_rfc8888(OFFER + "a=rtcp-fb:96 ack ccfb\r\n")


@pytest.mark.parametrize(
    ("text", "expectation"),
    [
        ("", Expectation(scream=False, rfc8888=False)),
        (SCREAM, Expectation(scream=True, rfc8888=False)),
        (L4S, Expectation(scream=True, rfc8888=True)),
        ("WebRTC-Bwe-ScreamV2/Enabled/", Expectation(scream=False, rfc8888=False)),
        ("WebRTC-RFC8888CongestionControlFeedback/Enabled/", Expectation(scream=False, rfc8888=False)),
        ("WebRTC-Bwe-ScreamV2/BetaLoss:0.8,mode:always/", Expectation(scream=True, rfc8888=False)),
    ],
)
def test_what_trials_ask_for(text: str, expectation: Expectation) -> None:
    assert expected(parse(text)) == expectation
    assert expectation.ect1 == (expectation.scream and expectation.rfc8888)


def test_trials_that_a_binary_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\0WebRTC-One\0")
    assert unknown(["WebRTC-One", "WebRTC-Two"], tmp_path / "binary") == ["WebRTC-Two"]


@pytest.mark.parametrize("text", ["A", "A/B", "A/B/C/", "A//", "/", "A/B/A/C/"])
def test_bad_trials(text: str) -> None:
    with pytest.raises(ValueError, match="allowed is"):
        parse(text)


SCREAM_LINE = (
    "[{stamp}:VERBOSE1:third_party/webrtc/modules/congestion_controller/scream/scream_v2.cc:278] ScreamV2: , "
    "ref_window = 47557 bytes ref_window_i_=1 bytes, change=1079 bytes , l4s_alpha=0.25, is_ce=0 is_virtual_ce=0 "
    "is_loss=0 smoothed_rtt=62, queue_delay=7 feedback_hold17, target_rate =4143\n"
)
GCC_LINE = (
    "[{stamp}:VERBOSE1:third_party/webrtc/modules/congestion_controller/goog_cc/goog_cc_network_control.cc:653] "
    "bwe 23475664 pushback_target_bps=2000000 estimate_bps=3000000\n"
)


def test_the_controllers_log_becomes_samples(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "log")
    assert list(trace.read()) == []
    now = int(time.time())
    stamp = time.strftime("%m%d/%H%M%S", time.gmtime(now)) + ".250000"
    text = GCC_LINE.format(stamp=stamp) + SCREAM_LINE.format(stamp=stamp)
    (tmp_path / "log").write_text(text[:-30])
    assert list(trace.read()) == [(now + 0.25, [("gcc_target", "Mbit/s", 2.0), ("gcc_estimate", "Mbit/s", 3.0)])]
    assert trace.controller == "GCC"
    (tmp_path / "log").write_text(text)
    ((at, read),) = list(trace.read())
    assert at == now + 0.25
    assert read == [
        ("ref_window", "bytes", 47557.0),
        ("l4s_alpha", "", 0.25),
        ("srtt", "ms", 62.0),
        ("queueing_delay", "ms", 7.0),
        ("scream_target", "Mbit/s", 4.143),
    ]
    assert trace.controller == "ScreamV2"


def test_what_shows_the_controller() -> None:
    assert controller("[x] nothing of interest") is None
    assert controller("goog_cc_factory.cc:40] ScreamV2 enabled always") == "ScreamV2"
    assert controller(GCC_LINE) == "GCC"


def record(at_ms: float, **changes: float) -> Record:
    """Return the record of a sender's page after `at_ms` of a good call: 30 frames per second, 8 ms to encode each."""
    frames = at_ms * 0.03
    outbound = {
        "targetBitrate": 3e6,
        "bytesSent": at_ms * 400,
        "framesEncoded": frames,
        "framesPerSecond": 30,
        "totalEncodeTime": frames * 0.008,
        "qualityLimitationReason": "none",
    }
    written_frames, skipped_frames = round(frames), 0.0
    if "skipped" in changes:
        skipped_frames = changes.pop("skipped")
    if "encode_s" in changes:
        outbound["totalEncodeTime"] = frames * changes.pop("encode_s")
    return {
        "at": at_ms,
        "source": {"written": written_frames - skipped_frames, "skipped": skipped_frames},
        "outbound": outbound | changes,
        "pair": {"currentRoundTripTime": 0.05, "availableOutgoingBitrate": 4e6},
    }


def conduct(*records: Record, is_connected: bool = True, fps: float | None = 30.0) -> Conduct:
    result = Conduct(fps=fps, cpu_share=0.3)
    result.note(list(records), [{"at": 90.0, "state": "connected"}] if is_connected else [])
    return result


def times(begin_ms: int = 100, end_ms: int = 8000) -> range:
    return range(begin_ms, end_ms, 100)


def test_a_good_call_is_valid() -> None:
    good = conduct(*(record(at) for at in times()))
    assert good.objection() is None
    assert good.encode_ms == pytest.approx(8.0)
    assert (good.connected_at, good.media_at) == (90.0, 100.0)
    # At a low target an encoder leaves out frames as it should, and the start of a call is no steady state.
    assert conduct(*(record(at, framesPerSecond=5, targetBitrate=0.7e6) for at in times())).objection() is None
    late = (record(at, framesPerSecond=10 if at < 2000 else 30) for at in times())
    assert conduct(*late).objection() is None
    receiving = ({"at": at, "inbound": {"packetsReceived": at}} for at in times())
    assert conduct(*receiving, fps=None).objection() is None


def in_outage(at_ms: float, available: dict[str, float]) -> Record:
    """Return a record of a call whose encoder has next to nothing to do from 3 to 6 s."""
    is_out = 3000 <= at_ms < 6000
    # the frame rate is that of the last second
    fps = {"framesPerSecond": 2.0 if is_out else 20.0 if at_ms in range(6000, 7000) else 30.0}
    return record(at_ms, **fps) | ({"pair": available} if is_out else {})


def test_an_encoder_that_the_controller_holds_back_is_not_limited_by_its_content() -> None:
    # nothing is acknowledged: no rate is available
    assert conduct(*(in_outage(at, {"currentRoundTripTime": 0.05}) for at in times())).objection() is None
    going_on = {"availableOutgoingBitrate": 4e6}
    assert "content limited" in str(conduct(*(in_outage(at, going_on) for at in times())).objection())

    def pushed_back(target_mbps: float) -> str | None:
        """Return the verdict if the log has this target with an estimate of 4 Mbit/s during the outage."""
        result = conduct()
        for at in times():
            target = target_mbps if 3000 <= at < 6000 else 4.0
            result.heed([("gcc_target", "Mbit/s", target), ("gcc_estimate", "Mbit/s", 4.0)])
            result.heed([("srtt", "ms", 50.0)])
            result.note([in_outage(at, going_on)], [])
        return result.objection()

    assert pushed_back(0.03) is None
    assert pushed_back(1.99) is None
    assert "content limited" in str(pushed_back(2.01))


def test_calls_that_say_nothing_about_congestion_control() -> None:
    def objection(**changes: float) -> str:
        return conduct(*(record(at, **changes) for at in times())).objection() or "none"

    assert objection(framesPerSecond=26.9).startswith("content limited: 26.9 of 30 frames per second were encoded")
    assert objection(framesPerSecond=27.1) == "none"
    assert "a frame took 26.0 ms to encode, more than 25" in objection(encode_s=0.026)
    assert objection(skipped=60).startswith("CPU limited: 60 of 237 frames were skipped")
    limited_conduct = conduct(
        *(record(at) | {"outbound": {"qualityLimitationReason": "cpu", "bytesSent": 1}} for at in times())
    )
    assert "qualityLimitationReason" in str(limited_conduct.objection())
    busy = conduct(*(record(at) for at in times()))
    busy.cpu_share = 0.85
    assert busy.objection() == "CPU limited: the browser took 85% of a processor, more than 80%"
    assert "not connected" in str(conduct(record(100), is_connected=False).objection())
    assert conduct(record(100, bytesSent=0)).objection() == "no media was sent"
    assert "no media had arrived" in str(conduct({"at": 100.0, "inbound": {}}, fps=None).objection())


def test_samples_are_states_and_means_since_the_previous_one(tmp_path: Path) -> None:
    first = dict((field, value) for field, _, value in values(record(1000), None))
    assert first["rtt"] == pytest.approx(50.0)
    assert first["target_rate"] == pytest.approx(3.0)
    second = dict((field, value) for field, _, value in values(record(1100, encode_s=0.01), record(1000)))
    # In all 33 frames of 10 ms, of which 30 frames of 8 ms came before.
    assert second["encode_time"] == pytest.approx((33 * 10 - 30 * 8) / 3)
    first_values = dict((field, value) for field, _, value in values(record(1000), record(1000)))
    assert "encode_time" not in first_values
    writer = Writer(tmp_path / "samples", offset_ms=5000.0)
    writer.records([record(1000)])
    lines = [json.loads(line) for line in (tmp_path / "samples").read_text().splitlines()]
    assert {"monotonic_ns": 6_000_000_000, "field": "rtt", "unit": "ms", "value": 50.0} in lines


def test_the_sides_meet(tmp_path: Path) -> None:
    address = tmp_path / "call"
    with pytest.raises(CallError, match="the other side is not there"):
        join(address, within_s=0.05)
    with contextlib.closing(Host(address)) as host, contextlib.closing(join(address, within_s=TIMEOUT_S)) as guest:
        with contextlib.closing(host.welcome()) as hosting:
            hosting.tell({"offer": OFFER})
            assert guest.hear("offer", within_s=TIMEOUT_S) == OFFER
            with pytest.raises(CallError, match=r"has sent no answer within 0.05 s"):
                hosting.hear("answer", within_s=0.05)
            assert not guest.is_over()
        assert guest.is_over()
        with pytest.raises(CallError, match="ended before it sent its answer"):
            guest.hear("answer", within_s=TIMEOUT_S)
    with pytest.raises(CallError, match="at most 107 bytes"):
        Host(tmp_path / ("x" * 108))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--width", "15"), "argument --width: 15: allowed is an even number from 16 to 3840"),
        (("--height", "721"), "argument --height: 721: allowed is an even number"),
        (("--fps", "x"), "argument --fps: x: allowed is a whole number from 1 to 120"),
        (("--noise", "nan"), "argument --noise: nan: allowed is a number from 0 to 127"),
        (("--max-mbps", "many"), "argument --max-mbps: many: allowed is `default` or a number from 0.1 to 100"),
        (("--trials", "A/B"), "argument --trials: trials: `A/B`: allowed is NAME/GROUP/, any number of times"),
        (("--codec", "H265"), "argument --codec: invalid choice: 'H265'"),
    ],
)
def test_bad_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit) as error:
        main(["send", "--rendezvous", "/tmp/x", *arguments])
    assert error.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"dumbbell_webrtc: {message}")
    assert len(errors.splitlines()) == 1


# The following tests need a browser, and rights.


@pytest.fixture(name="browser")
def _browser() -> None:
    """Skip tests that need a browser behind emulated paths."""
    reason = missing(catalog.schemes().find("chromium-gcc"))
    if reason or not BINARY.exists():
        pytest.skip(f"no browser here: {reason or BINARY}")
    if os.geteuid() != 0:
        pytest.skip("a browser of one's own PID namespace needs root")
    need_real_packets()


CALL_PATH = path_text(4.0, 20.0, 'queue = { kind = "droptail", bytes = 100000 }')


def descendants(mark: str) -> list[str]:
    """Return the command lines of the processes whose environment contains the text."""
    commands = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                commands.append((entry / "cmdline").read_text().replace("\0", " ")[:120])
    return commands


@pytest.mark.real
@pytest.mark.usefixtures("browser")
def test_browsers_call_each_other_over_an_emulated_path(
    dumbbell: Dumbbell, punctual: Punctual[list[Run]], folder: Path
) -> None:
    (folder / "call.toml").write_text(CALL_PATH)
    arguments = ("--backend", "emu", "--path", "call.toml", "--duration", "8", "--warmup", "0")
    schemes = ("chromium-gcc", "chromium-scream")

    def call(scheme: str) -> list[Run]:
        # The picture has a quarter of the preset's points, so that a busy machine encodes it in time.
        small = [f"--set={scheme}.{setting}" for setting in ("width=640", "height=360", "noise=25")]
        dumbbell("run", *arguments, *small, "--schemes", scheme, "--out", scheme, expect=None)
        return runs_of(dumbbell, scheme)

    for scheme in schemes:
        (run,) = punctual(lambda scheme=scheme: call(scheme))
        assert (run["scheme"], run["status"]) == (scheme, "done"), run["reason"]
        packets = polars.read_parquet(folder / scheme / run["directory"] / "packets.parquet")
        media = packets.filter((polars.col("event") == 5) & (polars.col("size_bytes") > 300))["time_ns"]
        assert media.min() < 3e9, "connected within 3 s"
        late = packets.filter((polars.col("event") == 5) & polars.col("time_ns").is_between(4e9, 8e9))
        # The rate is up to 4 Mbit/s; without a call it would be 0.
        assert 1.0 < late["size_bytes"].sum() * 8 / 4e6 < 4.1
        samples = polars.read_parquet(folder / scheme / run["directory"] / "flows.parquet")
        field = {name: frame["value"] for (name,), frame in samples.group_by("field")}
        assert field["encoded_frame_rate"].tail(40).mean() > 27 * 0.9
        assert field["rtt"].min() >= 40.0
        assert field["decoded_frame_rate"].max() >= 20
        assert ("ref_window" in field) == (run["scheme"] == "chromium-scream")
        assert ("gcc_target" in field) == (run["scheme"] == "chromium-gcc")
        assert samples["time_ns"].min() >= 0
        assert samples["time_ns"].max() <= 8e9
        outputs = [program["output"] for program in run["emulation"]["programs"]]
        assert all(json.loads(lines[0])["browser"].startswith("HeadlessChrome/") for lines in outputs)
    assert not [line for line in descendants(str(folder)) if "headless" in line]


@pytest.mark.real
@pytest.mark.usefixtures("browser")
def test_a_browser_that_ignores_its_trial_fails_the_run(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "call.toml").write_text(CALL_PATH)
    # A busy machine needs long until media flow; the run ends as soon as the browser has shown its fault.
    arguments = ("--backend", "emu", "--path", "call.toml", "--duration", "15", "--warmup", "0")
    # the browser takes the last of two modes
    for trials, message in (
        ("WebRTC-Bwe-ScreamV2/mode:always,mode:never/", "ignores the field trial: its log shows GCC, not ScreamV2"),
        ("WebRTC-Bwe-ScreamV99/Enabled/", "knows no field trial WebRTC-Bwe-ScreamV99"),
    ):
        setting = ("--set", f"chromium-scream.trials={trials}", "--out", trials.partition("/")[0])
        result = dumbbell("run", *arguments, "--schemes", "chromium-scream", *setting, "--json", expect=1)
        (run,) = json.loads(result.stdout)["runs"]
        assert run["status"] == "failed"
        assert message in run["reason"]


@pytest.mark.real
@pytest.mark.usefixtures("browser")
def test_a_killed_driver_leaves_no_browser(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from dumbbell_webrtc.browser import Browser, Setup\n"
        "place = Path(sys.argv[1]); browser = Browser(Setup(place / 'profile', place / 'log'))\n"
        "print(len(browser.processes()), flush=True); time.sleep(60)"
    )
    driver = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    assert int(driver.stdout.readline()) >= 3
    mark = f"HOME={tmp_path}"
    assert descendants(mark)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    wait_for(lambda: not descendants(mark))


@pytest.mark.real
@pytest.mark.usefixtures("browser")
def test_leaving_a_browser_ends_all_of_it_at_once(tmp_path: Path) -> None:
    with Browser(Setup(tmp_path / "profile", tmp_path / "log")) as browser:
        assert browser.version.startswith("HeadlessChrome/")
        assert browser.cpu_s() > 0
        page = Page(browser.devtools)
        before = time.monotonic() * 1e3
        assert (
            before <= page.clock_offset_ms() + float(page.evaluate("performance.now()")) <= time.monotonic() * 1e3 + 5
        )
        with pytest.raises(CallError, match="no codec XYZ"):
            page.run("offer", {"width": 64, "height": 48, "fps": 30, "noise": 5, "seed": 1, "codec": "XYZ"})
    assert descendants(f"HOME={tmp_path}") == []


def test_without_a_browser_the_reason_is_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell_webrtc.browser.BINARY", tmp_path / "nothing")
    with pytest.raises(CallError, match="install Debian's package chromium-headless-shell"):
        Browser(Setup(tmp_path / "profile", tmp_path / "log"))
