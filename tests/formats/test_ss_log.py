"""Tests of logs of `ss -ti` as people record them: time formats, no addresses, cut or wrapped lines, old kernels."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dumbbell_importers.stamps import stamp_behind, stamp_in_front
from support.commands.command import Dumbbell, show
from support.inputs.ss_logs import SS_COUNT, SS_FORMS, SS_NAMES, block, date, epoch, info, ss_log


def write(folder: Path, name: str, form: Callable[[int], str], numbers: range = range(SS_COUNT)) -> None:
    (folder / f"{name}.log").write_text(ss_log(form, numbers))


def run_of(dumbbell: Dumbbell, name: str) -> dict[str, Any]:
    dumbbell("import", "ss", f"{name}.log", "--out", name)
    (run,) = show(dumbbell, name)["runs"]
    made_run: dict[str, Any] = run
    return made_run


def test_a_log_is_the_same_whatever_form_its_times_and_names_have(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "logs").mkdir()
    for name, form in SS_FORMS.items():
        write(folder / "logs", name, form)
    dumbbell("import", "ss", "logs", "--out", "out")
    runs = show(dumbbell, "out")["runs"]
    assert sorted(run["scheme"] for run in runs) == sorted(SS_FORMS)
    for run in runs:
        (flow,) = run["flows"]
        assert flow["goodput_mbps"] == pytest.approx(1.0, rel=1e-3), run["scheme"]
        assert flow["data_bytes_delivered"] == 12_500 * (SS_COUNT - 1), run["scheme"]
        assert flow["retransmissions"] == 3, run["scheme"]
        assert flow["mean_srtt_ms"] == pytest.approx(40.43, abs=0.01), run["scheme"]
        undated_names = {"clock", "behind-clock", "one-line-ts", "watch-without-time", "no-addresses-behind"}
        assert ("started_at" in run["ss"]) == (
            run["scheme"] not in undated_names and not run["scheme"].startswith("one-line-elapsed")
        ), run["scheme"]


def test_what_a_kernel_does_not_count_is_absent_and_not_zero(dumbbell: Dumbbell, folder: Path) -> None:
    write(folder, "old", lambda number: block(epoch)(number).replace(f"bytes_acked:{1 + number * 12_500} ", ""))
    run = run_of(dumbbell, "old")
    (flow,) = run["flows"]
    assert (flow["goodput_mbps"], flow["data_bytes_delivered"], flow["retransmissions"]) == (None, None, 3)
    assert run["network"]["goodput_mbps"] is None
    assert any("what was delivered is not known" in note for note in run["notes"])


def test_what_was_cut_out_of_lines_is_absent_and_not_zero(dumbbell: Dumbbell, folder: Path) -> None:
    write(
        folder, "cut", lambda number: f"{epoch(number)} cwnd:{number + 10} rtt:40/2 bytes_acked:{1 + number * 12_500}\n"
    )
    run = run_of(dumbbell, "cut")
    (flow,) = run["flows"]
    assert flow["goodput_mbps"] == pytest.approx(1.0)
    assert (flow["retransmissions"], flow["mean_in_flight_bytes"], flow["mean_cwnd_bytes"]) == (None, None, None)
    assert any("none has rto" in note for note in run["notes"])


def test_whole_seconds_do_not_make_the_first_second_longer(dumbbell: Dumbbell, folder: Path) -> None:
    write(folder, "late", lambda number: block(date("%a %b %d %H:%M:%S UTC %Y"))(number + 7), range(30))
    run = run_of(dumbbell, "late")
    assert run["flows"][0]["goodput_mbps"] == pytest.approx(1.0)
    assert any("whole seconds" in note for note in run["notes"])


def test_a_clock_that_passes_midnight_goes_on(dumbbell: Dumbbell, folder: Path) -> None:
    evening = datetime(2023, 1, 1, 23, 59, 59)
    write(folder, "night", block(lambda number: f"{evening + timedelta(seconds=number * 0.1):%H:%M:%S.%f}"))
    assert run_of(dumbbell, "night")["flows"][0]["goodput_mbps"] == pytest.approx(1.0)


def test_a_log_without_its_first_lines_is_read_from_the_first_time_on(dumbbell: Dumbbell, folder: Path) -> None:
    write(folder, "head", lambda number: block(epoch)(number) if number else f"{SS_NAMES}\n{info(number)}\n")
    run = run_of(dumbbell, "head")
    assert run["flows"][0]["data_bytes_delivered"] == 12_500 * (SS_COUNT - 2)
    assert any("without a time" in note for note in run["notes"])


def test_one_time_for_several_connections(dumbbell: Dumbbell, folder: Path) -> None:
    other = SS_NAMES.replace("40000", "40002")
    write(folder, "two", lambda number: f"{epoch(number)} {SS_NAMES}\n{info(number)}\n{other}\n{info(number)}\n")
    assert [flow["goodput_mbps"] for flow in run_of(dumbbell, "two")["flows"]] == pytest.approx([1.0, 1.0])


def test_connections_without_addresses_are_told_apart_by_their_order(dumbbell: Dumbbell, folder: Path) -> None:
    write(folder, "order", lambda number: f"{epoch(number)}\n{info(number)}\n{info(2 * number, 10**6)}\n")
    run = run_of(dumbbell, "order")
    assert sorted(flow["goodput_mbps"] for flow in run["flows"]) == pytest.approx([1.0, 2.0])
    assert any("by their order" in note for note in run["notes"])


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        (lambda number: f"{SS_NAMES}\n{info(number)}\n", "no time before or behind it: needed is one for each `ss`"),
        (lambda number: f"\x1b[H\x1b[2J{SS_NAMES}\n{info(number)}\n", "has the cursor movements of a terminal"),
        (
            lambda number: f"{epoch(number)} {info(number)}\n{epoch(number, 4)}1 {info(number, 10**6)}\n",
            "`bytes_acked` goes back, and without addresses this may be the same connection or another one",
        ),
        (
            lambda number: f"{epoch(number)}\n{info(number)}\n" + (f"{info(number, 10**6)}\n" if number > 5 else ""),
            "without addresses they cannot be told apart",
        ),
        (block(lambda number: f"{number}/11/2023 22:13"), "no time before or behind it"),
        (block(lambda number: f"2023-02-30 22:13:{number}0"), "`2023-02-30 22:13:00` is no time"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused_in_one_line(
    dumbbell: Dumbbell, folder: Path, form: Callable[[int], str], complaint: str
) -> None:
    write(folder, "bad", form)
    result = dumbbell("import", "ss", "bad.log", "--out", "x", expect=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1700000000,25 ESTAB", 1_700_000_000.25),
        ("Tue Nov 14 10:13:20 PM CET 2023", 1_700_000_000),
        ("2023-11-14T23:13:20.5+01:00", 1_700_000_000.5),
        ("14 Nov 2023 22:13:20", 1_700_000_000),
        ("12:00:01 AM", 1),
        ("ESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201", None),
        ("0 0 10.0.0.1:400 10.0.0.2:5201", None),
        ("12345678901 bytes", None),
    ],
)
def test_a_time_in_front_of_a_line(text: str, seconds: float | None) -> None:
    stamp, _ = stamp_in_front(text)
    assert (None if stamp is None else stamp.seconds) == seconds


def test_a_number_behind_a_line_is_no_time() -> None:
    assert stamp_behind(" rcv_space:29200 minrtt:39.9") is None
    assert stamp_behind(" rcv_space 12.5") is None
    assert stamp_behind(" [::ffff:10.0.0.1]:40000 [fe80::12:34:56]:5201") is None
