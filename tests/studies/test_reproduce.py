"""Tests of `dumbbell reproduce`: paths of measured runs, their simulated runs, and causes that exist or not."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inline_snapshot import snapshot

import dumbbell
import dumbbell_reproduce
from dumbbell.base.errors import UserError
from dumbbell_reproduce.causes import LATE_MS
from dumbbell_reproduce.experiments import LEAST_GAIN
from dumbbell_reproduce.mahimahi_command import LogHead, read_command, read_head
from dumbbell_reproduce.mahimahi_link import departures, period
from dumbbell_reproduce.score import MeasureComparison
from dumbbell_reproduce.viewpoint import DELAY
from support.commands.in_process import run_in_process
from support.told import transcript
from validation.reproduction import LATE, SMALL_BUFFER, limit_scheme, mahimahi_path, slow, write_set

CUBIC = dumbbell.catalog.schemes().find("cubic")
LIMITED = limit_scheme("cubic")
SMALL = limit_scheme("cubic", SMALL_BUFFER)

pytestmark = pytest.mark.usefixtures("runs_made_here")


def reproduce(place: Path, tmp_path: Path, runs: int = 2, **more: object) -> dumbbell_reproduce.Reproduction:
    return dumbbell_reproduce.reproduce(place, tmp_path / "out", runs=runs, jobs=1, **more)  # type: ignore[arg-type]


def kinds(result: dumbbell_reproduce.Reproduction) -> dict[str, list[str]]:
    return {row.run.name: [cause.kind for cause in row.causes] for row in result.rows if row.flow == 0}


def test_packets_leave_the_link_as_mahimahi_lets_them() -> None:
    # by hand: 1504 bytes an opportunity, 4 more a packet; an opportunity at the instant of an arrival has passed
    assert departures([0.2, 0.3], [1500, 1500], [0.0, 1.0, 2.0]) == [1.0, 2.0]
    assert departures([0.2, 0.3, 0.4], [700, 700, 700], [1.0, 2.0]) == [1.0, 1.0, 2.0]
    # An unused rest of an opportunity is lost if no packet waits, and a packet may straddle several opportunities.
    assert departures([0.2, 1.5], [100, 1500], [1.0, 2.0]) == [1.0, 2.0]
    assert departures([0.0], [2000], [1.0, 2.0, 3.0]) == [2.0]
    assert departures([0.0, 5.0], [1500, 1500], [1.0, 2.0]) == [1.0]


@pytest.mark.parametrize(
    ("pattern", "length"), [([1.0], 1), ([1.0, 1.0, 3.0], 3), ([100.0], 100), ([200.0] * 10, 200), ([1500.0] * 5, 1500)]
)
def test_a_trace_that_repeats_itself_is_found(pattern: list[float], length: int) -> None:
    times = np.array([start + offset for start in range(0, 20 * length, length) for offset in pattern])
    pattern_found = period(times)
    assert pattern_found is not None
    assert (pattern_found[-1], len(pattern_found)) == (length, len(pattern))
    again = np.array([start + offset for start in range(0, 20 * length, length) for offset in pattern_found])
    assert set(np.diff(again)) == set(np.diff(times))


def test_a_random_trace_has_no_period() -> None:
    cumsum = np.cumsum(np.random.default_rng(1).exponential(5.0, 5000))
    assert period(cumsum) is None


def test_mahimahis_shells_are_a_path() -> None:
    metadata = {
        "prepend_mm_cmds": "mm-delay 28 mm-loss uplink 0.0477",
        "extra_mm_link_args": "--uplink-queue=droptail --uplink-queue-args=packets=14 --downlink-queue pie "
        '--downlink-queue-args "packets=100, qdelay_ref=20, max_burst=1"',
    }
    command = read_command(metadata, "here")
    assert (command.delay_ms, round(command.loss, 6), command.ack_loss) == (28.0, 0.0477, 0.0)
    assert command.queue == {"kind": "droptail", "packets": 14}
    pie = {"kind": "pie", "packets": 100, "target_ms": 20.0, "max_burst_ms": 1.0, "quirk": "mahimahi"}
    assert command.ack_queue == pie


def test_the_head_of_a_log_says_what_the_run_had() -> None:
    lines = "# queue: droptail [bytes=9000]\n# mahimahi config: [delay 100 ms] [delay 5 ms]\n96 + 40\n"
    assert read_head(lines, "log") == LogHead("log", {"kind": "droptail", "bytes": 9000}, 105.0)
    assert read_head("# queue: infinite\n# mahimahi config: \n", "log") == LogHead("log", {"kind": "infinite"}, 0.0)
    assert read_head("1 # 1504\n", "log") == LogHead("log")
    with pytest.raises(UserError, match="log: `# queue:`: queue `red`"):
        read_head("# queue: red [packets=1]\n", "log")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"prepend_mm_cmds": "mm-delay"}, snapshot("here: `mm-delay`: its value is missing")),
        ({"prepend_mm_cmds": "mm-delay -1"}, snapshot("here: `mm-delay` -1: allowed is a number, 0 to 3.6e+06")),
        ({"prepend_mm_cmds": "mm-loss up 0.1"}, snapshot("here: `mm-loss`: `up`: allowed are uplink and downlink")),
        ({"prepend_mm_cmds": "mm-loss uplink 2"}, snapshot("here: `mm-loss` 2: allowed is a number, 0 to 1")),
        ({"prepend_mm_cmds": "mm-delay '"}, snapshot("here: `prepend_mm_cmds` = mm-delay ': No closing quotation")),
        (
            {"extra_mm_link_args": "--uplink-queue=red"},
            snapshot("here: `extra_mm_link_args`: queue `red`: allowed are infinite, droptail, drophead, codel, pie"),
        ),
        (
            {"extra_mm_link_args": "--uplink-queue=droptail"},
            snapshot("here: `extra_mm_link_args`: queue `droptail`: needed is packets=N or bytes=N"),
        ),
        (
            {"extra_mm_link_args": "--uplink-queue=droptail --uplink-queue-args=packets=x"},
            snapshot(
                """\
here: `extra_mm_link_args`: `packets=x`: allowed are packets, bytes, target, interval, qdelay_ref,
  max_burst with a whole number each\
"""
            ),
        ),
    ],
)
def test_what_mahimahi_does_not_take_is_refused(metadata: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="here: ") as error:
        read_command(metadata, "here")
    assert transcript(str(error.value), tmp_path) == message


def test_runs_of_our_own_are_reproduced_without_causes(tmp_path: Path) -> None:
    queue = {"kind": "droptail", "packets": 100}
    schemes = {"cubic": "cubic", "vegas": "vegas", "bbr": "bbr"}
    place = write_set(tmp_path, schemes, mahimahi_path(queue=queue), packets=100, runs=2, duration_s=10.0)
    result = reproduce(place, tmp_path)
    assert kinds(result) == {"cubic": [], "vegas": [], "bbr": []}
    score = result.scores["exact"]
    assert (score.rows, score.within_both) == (6, 6)
    (path,) = result.paths
    assert path.model.data[0]["times_ms"] == [1.0]
    assert path.model.data[0]["queue"] == queue
    assert result.findings()[0].startswith(
        "6 of 6 runs are within 5 % of throughput and 10 % of p95, between exact hosts"
    )
    page, save, table = result.save(tmp_path / "out")
    content = json.loads(save.read_text())
    assert content["scores"]["exact"]["both"] == 6
    assert len(content["rows"]) == len(table.read_text().splitlines()) - 1 == 6
    assert content["findings"][0] in page.read_text().replace("&amp;", "&")
    # Both sides are normal results.
    assert dumbbell.open(tmp_path / "out" / "simulated" / "set").good
    assert dumbbell.open(tmp_path / "out" / "measured" / "set").good


def test_a_senders_buffer_is_found_and_used_on_other_runs(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"cubic": SMALL, "vegas": "vegas"}, mahimahi_path(), runs=2, duration_s=30.0)
    result = reproduce(place, tmp_path)
    assert kinds(result) == {"cubic": ["buffer"], "vegas": []}
    cubic = next(row for row in result.rows if row.run.name == "cubic")
    assert cubic.causes[0].text.startswith("the sender's buffer, as this log tells: a socket holds 8")
    assert cubic.causes[0].comparison is not None
    assert abs(of_delay(cubic.causes[0].comparison)) < 0.10
    delays = [comparisons[DELAY] for comparisons in (cubic.exact, cubic.host) if comparisons]
    assert all(delays)
    exact, host = (abs(delay.relative) for delay in delays if delay)
    assert exact > 0.5
    assert host < 0.10
    assert result.scores["host"].within_both > result.scores["exact"].within_both


def test_runs_with_linuxs_sockets_were_compared_with_unlimited_ones(tmp_path: Path) -> None:
    # 4784 ms were shown for 1641 measured, although the runs with sockets were simulated, too.
    place = write_set(tmp_path, {"cubic": LIMITED}, mahimahi_path(), duration_s=30.0)
    (row,) = reproduce(place, tmp_path).rows
    assert row.causes == ()
    assert abs(of_delay(row.exact)) < 0.05
    shutil.rmtree(tmp_path / "out")
    (row,) = reproduce(place, tmp_path, sockets="unlimited").rows
    assert [cause.kind for cause in row.causes] == ["buffer"]
    assert of_delay(row.exact) > 0.5
    # If a host's sockets hold more than Linux's, the measured window exceeds the simulated one.
    shutil.rmtree(tmp_path / "out")
    large = write_set(tmp_path / "large", {"cubic": limit_scheme("cubic", 2**23)}, mahimahi_path(), duration_s=60.0)
    (row,) = reproduce(large, tmp_path).rows
    assert [cause.kind for cause in row.causes] == ["buffer"]
    with pytest.raises(UserError, match=r"sockets `linus` .*: allowed are linux, unlimited"):
        reproduce(place, tmp_path / "none", sockets="linus")


def test_a_kernel_that_paces_tcp_is_told_by_the_log(tmp_path: Path) -> None:
    # Vegas over bursts had 0.26 Mbit/s, and 0.54 without the pacing of `fq`
    paced_log = limit_scheme("vegas")
    paced_log = replace(paced_log, transport=paced_log.transport | {"fq": True})
    queue = {"kind": "droptail", "packets": 300}
    place = write_set(
        tmp_path, {"vegas": paced_log, "cubic": limit_scheme("cubic")}, mahimahi_path(100.0, queue), 100.0, 300
    )
    result = reproduce(place, tmp_path)
    assert not any(path.has_fq for path in result.paths)  # one paces, the other does not
    shutil.rmtree(tmp_path / "out")
    place = write_set(tmp_path / "paced", {"vegas": paced_log}, mahimahi_path(100.0, queue), 100.0, 300)
    (row,) = (result := reproduce(place, tmp_path)).rows
    (path,) = result.paths
    assert path.has_fq
    assert path.origin.endswith("; the sender's kernel paces TCP (`fq`)")
    assert row.surprise < 1.0


def test_bursts_meet_the_socket_of_pantheons_tunnel(tmp_path: Path) -> None:
    # With 1500 opportunities every 1.5 s, 1.09 Mbit/s were simulated for 0.26 measured.
    bursts = mahimahi_path(5.0, times_ms=[1500.0] * 1500)
    socket = {"kind": "link", "rate_mbps": 10_000.0, "queue": {"kind": "droptail", "packets": 93}}
    place = write_set(tmp_path, {"cubic": "cubic"}, replace(bursts, data=[*bursts.data, socket]), 5.0)
    (row,) = (result := reproduce(place, tmp_path)).rows
    assert [element.get("name") for element in result.paths[0].model.data] == ["bottleneck", None, "tunnel-socket"]
    assert row.surprise < 1.0


def of_delay(comparisons: dict[str, MeasureComparison | None]) -> float:
    """Return the relative error of p95."""
    delay = comparisons[DELAY]
    assert delay is not None
    return delay.relative


def test_cubic_by_another_name_does_not_count(tmp_path: Path) -> None:
    queue = {"kind": "droptail", "packets": 200}
    schemes = {"bbr": "cubic", "vegas": "cubic", "cubic": "cubic"}
    place = write_set(tmp_path, schemes, mahimahi_path(queue=queue), packets=200, duration_s=12.0)
    result = reproduce(place, tmp_path)
    assert kinds(result) == {"bbr": ["cubic"], "vegas": ["cubic"], "cubic": []}
    assert result.scores["exact"].rows == 1
    sentences = result.findings()
    assert "2 runs left out of the score." in sentences
    assert any("it was really CUBIC" in sentence for sentence in sentences)


def test_a_late_host_is_told_by_its_log_and_shown_by_an_experiment(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"bbr": "bbr", "vegas": "vegas"}, mahimahi_path(0.0, after=[LATE]), 0.0, runs=2)
    result = reproduce(place, tmp_path)
    bbr = [row for row in result.rows if row.run.name == "bbr"]
    assert all([cause.kind for cause in row.causes] == ["jitter"] for row in bbr)
    assert all(row.causes[0].text.startswith("the host, as this log tells: data 0.") for row in bbr)
    exact, host = (result.scores[side].median_delay for side in ("exact", "host"))
    assert exact is not None
    assert host is not None
    assert host < exact
    assert result.hosts
    assert all(profile.profile.is_late and profile.profile.buffer_packets is None for profile in result.hosts)
    assert all(profile.gain >= LEAST_GAIN for profile in result.hosts)


def test_a_host_that_does_not_carry_the_rate_does_not_count(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"cubic": LIMITED, "vegas": "vegas"}, mahimahi_path(after=[slow(8.0)]), duration_s=10.0)
    result = reproduce(place, tmp_path)
    assert kinds(result)["cubic"] == ["host-rate"]
    assert "the host could not carry the rate" in " ".join(result.findings())
    # Such runs gave profiles of 22 and 605 ms.
    late = [host.profile.data for host in result.hosts if host.profile.data is not None]
    assert all(profile.mean_ms < LATE_MS for profile in late)


def test_a_program_that_hardly_sent_does_not_count(tmp_path: Path) -> None:
    idle = replace(CUBIC, application={"kind": "on-off", "on_ms": 5.0, "off_ms": 4000.0})
    place = write_set(tmp_path, {"cubic": idle, "vegas": "vegas"}, mahimahi_path(200.0), 200.0)
    result = reproduce(place, tmp_path)
    assert kinds(result)["cubic"] == ["silent"]


def test_an_export_has_its_path_from_the_packets(tmp_path: Path) -> None:
    dumbbell.run(
        schemes=["cubic", "bbr"],
        path=dumbbell.make_path(rate="20mbit", rtt="40ms", queue="1bdp"),
        duration=15,
        log="packets",
        convention="pantheon",
        out=tmp_path / "truth",
        jobs=1,
    )
    dumbbell.export_pantheon(tmp_path / "truth", tmp_path / "set")
    result = reproduce(tmp_path / "set", tmp_path)
    (path,) = result.paths
    link, *_ = path.model.data
    assert link["rate_mbps"] == pytest.approx(20.0, rel=0.02)
    assert link["queue"]["bytes"] == pytest.approx(100_000, rel=0.1)
    assert path.delay_ms == pytest.approx(20.0, abs=0.1)  # of a packet without data
    assert result.scores["exact"].within_both == 2


def test_a_link_without_a_log_is_not_called_a_late_host(tmp_path: Path) -> None:
    path = mahimahi_path(20.0, times_ms=[1.0, 1.0, 8.0, 8.0, 8.0, 20.0])
    dumbbell.run(
        schemes=["cubic", "bbr", "vegas"],
        path=path,
        duration=15,
        log="packets",
        convention="pantheon",
        out=tmp_path / "truth",
        jobs=1,
    )
    dumbbell.export_pantheon(tmp_path / "truth", tmp_path / "set")
    result = reproduce(tmp_path / "set", tmp_path)
    assert any(row.surprise > 1.0 for row in result.rows)
    jitter = [cause.text for row in result.rows for cause in row.causes if cause.kind == "jitter"]
    assert all(remark.startswith("the host or the link: packets leave every ") for remark in jitter)


def test_single_flows_are_compared_too(tmp_path: Path) -> None:
    queue = {"kind": "droptail", "packets": 100}
    report_options = {"flows": 2, "interval": 2}
    place = write_set(
        tmp_path,
        {"cubic": "cubic", "bbr": "bbr"},
        mahimahi_path(queue=queue),
        packets=100,
        duration_s=10.0,
        **report_options,
    )
    result = reproduce(place, tmp_path)
    assert [row.flow for row in result.rows if row.run.name == "bbr"] == [0, 1, 2]
    assert result.scores["exact-flows"].rows == 4
    assert any(finding.startswith("Single flows of several") for finding in result.findings())


def test_flows_start_when_their_log_says(tmp_path: Path) -> None:
    queue = {"kind": "droptail", "packets": 100}
    place = write_set(tmp_path, {"cubic": "cubic"}, mahimahi_path(queue=queue), packets=100, flows=2, interval=4)
    metadata = json.loads((place / "pantheon_metadata.json").read_text())
    (place / "pantheon_metadata.json").write_text(json.dumps(metadata | {"interval": 1}))
    result = reproduce(place, tmp_path)
    (path,) = result.paths
    assert path.schedule is not None
    assert path.schedule.spans_s == ((0.0, 20.0), (pytest.approx(4.0, abs=0.15), 20.0))
    (statistics, *_) = (tmp_path / "out" / "simulated").glob("*/runs/*/cubic/1/stats.json")
    first, second = json.loads(statistics.read_text())["flows"]
    assert (first["start_s"], second["start_s"]) == pytest.approx((0.05, 4.05), abs=0.2)


def refusal(folder: Path, *arguments: str) -> str:
    result = run_in_process(["reproduce", *arguments], folder)
    assert (result.returncode, result.stdout) == (2, ""), result
    (line,) = result.stderr.strip().splitlines()[-1:]
    return line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["{}/nothing", "--out", "{}/out"],
            snapshot("dumbbell: nothing: no such directory"),
        ),
        (
            ["{}/empty", "--out", "{}/out"],
            snapshot(
                """\
dumbbell: empty: no measured runs: needed is pantheon_metadata.json, or *.pcap, *.pcapng, *.cap,
  *.qlog, *.sqlog, *.json, in it or below it\
"""
            ),
        ),
        (
            ["{}/set", "--out", "{}/set"],
            snapshot("dumbbell: set: exists already: choose another --out, or add --resume to go on"),
        ),
        (
            ["{}/set", "--out", "{}/out", "--as", "bbrr=bbr"],
            snapshot("dumbbell: --as `bbrr`: no run is of this scheme: allowed are cubic"),
        ),
        (
            ["{}/set", "--out", "{}/out", "--as", "cubic=nosuch"],
            snapshot(
                "dumbbell: set: no run can be simulated: set: cubic: not one of ours: --as NAME=OURS says which is"
            ),
        ),
        (
            ["{}/set", "--out", "{}/out", "--hold-out", "copa"],
            snapshot("dumbbell: --hold-out `copa`: no run is of this scheme: allowed are cubic"),
        ),
        (
            ["{}/set", "--out", "{}/out", "--hold-out", "cubic"],
            snapshot("dumbbell: --hold-out: all schemes: some have to tell the host profile"),
        ),
        (
            ["{}/set", "--out", "{}/out", "--runs", "0"],
            snapshot(
                """\
dumbbell: argument --runs: `0`: allowed is a whole number, at least 1 and at most 1000000 (`dumbbell
  reproduce --help` shows what is possible)\
"""
            ),
        ),
    ],
)
def test_what_cannot_be_reproduced_is_one_line(tmp_path: Path, arguments: Sequence[str], message: str) -> None:
    (tmp_path / "empty").mkdir()
    write_set(tmp_path, {"cubic": "cubic"}, mahimahi_path(), duration_s=1.0)
    assert transcript(refusal(tmp_path, *(argument.format(tmp_path) for argument in arguments)), tmp_path) == message
    assert not (tmp_path / "out").exists()


def test_logs_of_days_say_beforehand_how_long_they_take_and_can_be_refused(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"cubic": "cubic"}, mahimahi_path(), duration_s=1.0)
    without_packets(place, {"cubic": (10.0, 30.0)})
    metadata = json.loads((place / "pantheon_metadata.json").read_text()) | {"runtime": 500_000}
    (place / "pantheon_metadata.json").write_text(json.dumps(metadata))
    line = refusal(tmp_path, str(place), "--out", str(tmp_path / "out"), "--runs", "3", "--most-minutes", "0.01")
    assert re.fullmatch(
        r"dumbbell: --most-minutes 0\.01: 3 simulated runs of 500000 s at most take about .*: "
        r"ask for fewer --runs, or take shorter logs",
        line,
    )
    assert not (tmp_path / "out").exists()


def test_how_long_it_takes_is_said_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = write_set(tmp_path, {"cubic": "cubic"}, mahimahi_path(), duration_s=1.0)
    reproduce(place, tmp_path)
    assert re.search(r"^\d+ simulated runs of 1 s at most take about \d+ s, and", capsys.readouterr().err, re.MULTILINE)


def without_packets(place: Path, numbers: dict[str, tuple[float, float]]) -> None:
    """Keep only the files that Pantheon's analysis wrote, with other numbers."""
    for file in place.glob("*.log"):
        if "link_run" in file.name:
            file.unlink()
    run = {key: {"tput": rate, "delay": delay, "loss": 0.05} for key, (rate, delay) in numbers.items()}
    performance = {key: {"1": {"1": values, "all": values}} for key, values in run.items()}
    (place / "pantheon_perf.json").write_text(json.dumps(performance))


@pytest.mark.parametrize("stand_in", ["cubic", "cubic-linux"])
def test_without_packets_cubics_numbers_by_another_name_do_not_count(tmp_path: Path, stand_in: str) -> None:
    place = write_set(tmp_path, {"cubic": "cubic", "bbr": "bbr", "vegas": "vegas"}, mahimahi_path(), duration_s=1.0)
    without_packets(place, {"cubic": (11.94, 1823.0), "bbr": (11.99, 1900.0), "vegas": (11.8, 45.0)})
    result = reproduce(place, tmp_path, stands_for={"cubic": stand_in})
    assert kinds(result)["bbr"] == ["cubic"]
    assert "cubic" not in kinds(result)["vegas"]
    assert [path.origin for path in result.paths] == ["the name of the trace"]
    assert "throughput and p95 are those of cubic, run 1" in " ".join(result.findings())


def test_a_trace_that_is_not_what_it_is_called_is_no_path(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"cubic": "cubic"}, mahimahi_path(), duration_s=1.0)
    without_packets(place, {"cubic": (0.65, 1517.0)})
    with pytest.raises(UserError, match="its trace cannot have 12 Mbit/s, as its name says"):
        reproduce(place, tmp_path)
    assert not (tmp_path / "out").exists()
    # bursts of 0.54 Mbit/s were called 1mbps.trace: CUBIC fills any link
    without_packets(place, {"cubic": (7.0, 9102.0)})
    with pytest.raises(UserError, match="as its name says: loss-based schemes have 7 at most"):
        reproduce(place, tmp_path)


def test_logs_that_are_faster_than_mm_delay_are_of_another_test(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"cubic": "cubic"}, mahimahi_path(20.0), 100.0, duration_s=3.0)
    with pytest.raises(UserError, match="with mm-delay 100: its logs are of another test"):
        reproduce(place, tmp_path)


def test_a_log_that_is_in_two_sets_counts_once(tmp_path: Path) -> None:
    write_set(tmp_path, {"cubic": "cubic", "vegas": "vegas"}, mahimahi_path(), duration_s=3.0)
    both_sets = tmp_path / "both"
    for name in ("first", "second"):
        shutil.copytree(tmp_path / "set", both_sets / name)
    result = reproduce(both_sets, tmp_path, runs=1)
    assert [row.run.place for row in result.rows] == ["first", "first"]
    assert result.left_out == tuple(
        f"second: {scheme}, run 1: its log is the one in first" for scheme in ("cubic", "vegas")
    )
