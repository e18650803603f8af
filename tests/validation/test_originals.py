"""Wrappers of originals: that of SCReAM is compiled with stand-ins of its classes, which check what they are told."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.commands.command import Dumbbell
from validation import originals
from validation.kernel_sources import Difference

ROOT = Path(__file__).resolve().parents[2]

SCREAM_TX = r"""
#pragma once
#include "RtpQueue.h"
#include <cstdio>
#include <cstdlib>
inline void require(bool holds, const char *what) { if (!holds) { std::fprintf(stderr, "%s\\n", what); std::abort(); } }
class ScreamV2Tx {
public:
    ScreamV2Tx(float, float, float, int, float, float, float, float, bool, float, bool, bool) {}
    ~ScreamV2Tx() { std::printf("CE %d\n", cwnd); std::fflush(stdout); }
    void setCwndMinLow(int) {}
    void enableRelaxedPacing(bool) {}
    void setReorderTime(float) {}
    void registerNewStream(RtpQueueIface *, uint32_t, float, float, float, float, float, bool, float) {}
    void newMediaFrame(uint32_t, uint32_t, int, bool) {}
    float isOkToTransmit(uint32_t, uint32_t &) { return 0.0f; }
    float getTargetBitrate(uint32_t, uint32_t) { return 2e6f; }
    float addTransmitted(uint32_t, uint32_t, int, uint16_t, bool, float, uint32_t timestamp)
    {
        /* as `markAcked` does: the newest, from 0 on, in steps of less than 50000 */
        require(timestamp - newest < 50000, "TIMESTAMP");
        newest = timestamp;
        return 0.0f;
    }
    void incomingStandardizedFeedback(uint32_t, int, uint32_t, uint16_t, uint8_t ce, bool)
    {
        cwnd += ce == 3;
        require(ce == 3 || ce == 1, "ECN");
    }
private:
    uint32_t newest = 0;
    float paceInterval = 0.0f;
    int cwnd = 0;
    float queueDelay = 0, queueDelayAvg = 0, latencyDiffCwndScale = 1, lossRate = 0, l4sAlpha = 0;
};
"""
RTP_QUEUE = """
#pragma once
#include <cstdint>
class RtpQueueIface {
public:
    virtual int clear() = 0;
    virtual int sizeOfNextRtp() = 0;
    virtual int seqNrOfNextRtp() = 0;
    virtual int seqNrOfLastRtp() = 0;
    virtual int bytesInQueue() = 0;
    virtual int sizeOfQueue() = 0;
    virtual float getDelay(float) = 0;
    virtual int getSizeOfLastFrame() = 0;
};
"""


@pytest.fixture
def scream_tree(tmp_path: Path) -> Path:
    """A source tree whose SCReAM checks what it is told."""
    code = tmp_path / "tree" / "code"
    code.mkdir(parents=True)
    for name, text in {"ScreamTx.h": SCREAM_TX, "RtpQueue.h": RTP_QUEUE}.items():
        (code / name).write_text(text)
    for name in ("ScreamV2Tx", "ScreamV2TxStream", "ScreamTx"):
        (code / f"{name}.cpp").write_text("")
    return code.parent


def run_wrapper(dumbbell: Dumbbell, tree: Path, folder: Path, expect: int = 0) -> str:
    """Run two flows of the wrapper of SCReAM, one 1.5 s after the other, over a link that marks; return their log."""
    original = originals.ORIGINALS["scream"]
    _, theirs = originals.scheme_files(original.pairs[0], originals.build(original, tree, folder), folder)
    (folder / "marks.toml").write_text(original.cells["marks"].toml("marks").replace("50.0", "2.0"))
    flows = ("--flows", "2", "--interval", "1.5", "--duration", "3", "--set", "log=none")
    dumbbell("run", "--schemes", theirs, "--path", str(folder / "marks.toml"), *flows, "--out", "out", expect=expect)
    (log,) = (folder / "out").glob("runs/*/*/*/log.txt")
    return log.read_text()


def test_the_wrapper_of_scream_passes_marks_and_begins_rtp_timestamps_near_zero_in_each_flow(
    dumbbell: Dumbbell, scream_tree: Path, tmp_path: Path
) -> None:
    log = run_wrapper(dumbbell, scream_tree, tmp_path)
    marked = [int(line.split("CE ")[1]) for line in log.splitlines() if "CE " in line]
    assert len(marked) == 2, log
    assert min(marked) > 0, log


def test_a_wrapper_whose_rtp_timestamps_begin_with_the_run_is_found(
    dumbbell: Dumbbell, scream_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (originals.WRAPPERS / "scream.cc").read_text()
    before = "flow->began_ns = flow->now_ns = start->now_ns;"
    assert before in text
    (tmp_path / "scream.cc").write_text(text.replace(before, "flow->began_ns = 0, flow->now_ns = start->now_ns;"))
    monkeypatch.setattr(originals, "WRAPPERS", tmp_path)
    assert "TIMESTAMP" in run_wrapper(dumbbell, scream_tree, tmp_path, expect=1)


def test_a_source_tree_that_is_absent_is_one_line_and_status_2(tmp_path: Path) -> None:
    for name, original in originals.ORIGINALS.items():
        words = ["-m", "validation.originals", name, "--source", str(tmp_path / "none")]
        done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert f"none: no {original.sources[0]}: expected a source tree of {original.where}" in line


def test_a_difference_in_delay_of_two_milliseconds_is_within() -> None:
    assert Difference(ours=11.9, theirs=10.0, half=0.0).verdict(0.10, 2.0) == "yes"
    assert Difference(ours=12.1, theirs=10.0, half=0.0).verdict(0.10, 2.0) == "no"
    assert Difference(ours=12.1, theirs=10.0, half=0.02).verdict(0.10, 2.0) == "open"
    assert Difference(ours=108.0, theirs=100.0, half=0.0).verdict(0.10, 2.0) == "yes"
