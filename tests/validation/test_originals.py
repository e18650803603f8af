"""Tests of wrappers of originals, compiled with stand-ins of the originals' classes, which check their arguments."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
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

PRAGUE_SENDER = r"""
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
inline void require(bool holds, const char *what) { if (!holds) { std::fprintf(stderr, "%s\n", what); std::abort(); } }
namespace quic {
using QuicByteCount = uint64_t;
using QuicPacketCount = uint64_t;
using QuicPacketLength = uint16_t;
constexpr uint32_t kDefaultNumConnections = 2;
constexpr QuicByteCount kDefaultTCPMSS = 1460;
enum HasRetransmittableData { HAS_RETRANSMITTABLE_DATA };
struct QuicTime {
    struct Delta { int64_t us; static Delta FromMicroseconds(int64_t us) { return {us}; } };
    int64_t us;
    static QuicTime Zero() { return {0}; }
};
inline QuicTime operator+(QuicTime time, QuicTime::Delta later) { return {time.us + later.us}; }
struct QuicWallTime { static QuicWallTime Zero() { return {}; } };
struct QuicClock {
    virtual QuicTime Now() const = 0;
    virtual QuicTime ApproximateNow() const = 0;
    virtual QuicWallTime WallNow() const = 0;
};
struct QuicPacketNumber { uint64_t number; explicit QuicPacketNumber(uint64_t number) : number(number) {} };
struct AckedPacket { QuicPacketNumber packet_number; QuicPacketLength bytes_acked; };
struct LostPacket { QuicPacketNumber packet_number; QuicPacketLength bytes_lost; };
using AckedPacketVector = std::vector<AckedPacket>;
using LostPacketVector = std::vector<LostPacket>;
struct QuicConnectionStats {};
struct QuicBandwidth { int64_t ToBitsPerSecond() const { return 2500000; } };
struct RttStats {
    int64_t samples = 0;
    bool UpdateRtt(QuicTime::Delta rtt, QuicTime::Delta, QuicTime) { return ++samples, rtt.us > 0; }
};
class PragueSender {
public:
    PragueSender(const QuicClock *clock, const RttStats *rtt, QuicPacketCount, QuicPacketCount, QuicConnectionStats *)
        : clock(clock), rtt(rtt) {}
    ~PragueSender()
    {
        std::printf("CE %llu LOST %llu\n", (unsigned long long)marked, (unsigned long long)lost);
        std::fflush(stdout);
    }
    bool EnableECT1() { return is_l4s = true; }
    void SetNumEmulatedConnections(int) {}
    void OnPacketSent(QuicTime, QuicByteCount, QuicPacketNumber packet, QuicByteCount, HasRetransmittableData)
    {
        sent = packet.number;
    }
    void OnCongestionEvent(bool has_rtt, QuicByteCount prior_in_flight, QuicTime at, const AckedPacketVector &acked,
                           const LostPacketVector &losses, QuicPacketCount unmarked, QuicPacketCount ce)
    {
        require(is_l4s, "ECT1");
        require(at.us == clock->Now().us, "CLOCK");
        require(acked.size() == unmarked + ce, "ECN");
        require(acked.empty() || (acked.back().packet_number.number <= sent && has_rtt && rtt->samples > 1), "RTT");
        QuicByteCount bytes = 0;
        for (const AckedPacket &packet : acked)
            bytes += packet.bytes_acked;
        for (const LostPacket &packet : losses)
            bytes += packet.bytes_lost;
        require(bytes <= prior_in_flight, "FLIGHT");
        marked += ce;
        lost += acked.empty() ? 0 : losses.size();
    }
    void OnRetransmissionTimeout(bool) {}
    bool InRecovery() const { return false; }
    bool CanSend(QuicByteCount) { return true; }
    QuicByteCount GetCongestionWindow() const { return 60000; }
    QuicByteCount GetSlowStartThreshold() const { return 60000; }
    QuicBandwidth PacingRate(QuicByteCount) const { return {}; }
private:
    const QuicClock *clock;
    const RttStats *rtt;
    bool is_l4s = false;
    uint64_t sent = 0, marked = 0, lost = 0;
};
} // namespace quic
"""
QUIC_CONSTANTS = """
#pragma once
#include <chrono>
#include <cstdint>
namespace quic {
using Clock = std::chrono::steady_clock;
using TimePoint = std::chrono::time_point<Clock>;
constexpr std::chrono::microseconds kDefaultMinRtt{1}, kDefaultPacingTickInterval{1000};
constexpr uint64_t kInitCwndInMss = 10, kMinCwndInMss = 2, kDefaultMaxCwndInMss = 2000;
constexpr uint64_t kDefaultWriteConnectionDataPacketLimit = 5, kDefaultMinBurstPackets = 5;
} // namespace quic
"""
COPA = r"""
#pragma once
#include <cstdio>
#include <cstdlib>
#include <quic/state/StateData.h>
inline void require(bool holds, const char *what) { if (!holds) { std::fprintf(stderr, "%s\n", what); std::abort(); } }
namespace quic {
class Copa {
public:
    explicit Copa(QuicConnectionStateBase &conn) : conn(conn)
    {
        require(conn.transportSettings.copaDeltaParam == 0.05, "DELTA");
    }
    ~Copa() { std::printf("ACKED %llu LOST %u\n", (unsigned long long)acked, lost); std::fflush(stdout); }
    void onPacketAckOrLoss(const AckEvent *ack, const LossEvent *loss)
    {
        if (loss) {
            require(loss->largestLostPacketNum.has_value() && loss->lostBytes > 0, "LOSS");
            lost += loss->lostPackets;
        }
        if (ack) {
            require(ack->largestNewlyAckedPacket == ack->ackedPackets.back(), "NEWEST");
            require(ack->ackTime >= newest, "TIME");
            require(conn.lossState.lrtt.count() > 20000 && conn.lossState.srtt.count() > 20000, "RTT");
            newest = ack->ackTime;
            acked += ack->ackedBytes;
            conn.pacer->refreshPacingRate(2 * getCongestionWindow(), conn.lossState.srtt);
        }
    }
    uint64_t getCongestionWindow() const { return 10 * conn.udpSendPacketLen; }
private:
    QuicConnectionStateBase &conn;
    TimePoint newest{};
    uint64_t acked = 0;
    uint32_t lost = 0;
};
} // namespace quic
"""
PACING = """
#pragma once
#include <quic/state/StateData.h>
namespace quic {
/* Five packets every 100 ms, whatever the window is. */
inline PacingRate calculatePacingRate(const QuicConnectionStateBase &, uint64_t, uint64_t, std::chrono::microseconds)
{
    return PacingRate::Builder().setInterval(std::chrono::milliseconds(100)).setBurstSize(5).build();
}
} // namespace quic
"""
STAND_INS = {
    "scream": {"code/ScreamTx.h": SCREAM_TX, "code/RtpQueue.h": RTP_QUEUE},
    "prague": {"quiche/quic/core/congestion_control/prague_sender.h": PRAGUE_SENDER},
    "copa-mvfst": {
        "quic/QuicConstants.h": QUIC_CONSTANTS,
        "quic/common/Optional.h": "#pragma once\n#include <quic/mvfst-config.h>\n",
        "quic/congestion_control/CongestionController.h": "#pragma once\n#include <quic/state/LossEvent.h>\n",
        "quic/congestion_control/CongestionControlFunctions.h": PACING,
        "quic/congestion_control/Copa.h": COPA,
    },
}
"""Stand-in headers of an original's tree; its other files are empty."""


@pytest.fixture
def log_of(dumbbell: Dumbbell, tmp_path: Path) -> Callable[..., str]:
    """Run two flows of a wrapper, one 1.5 s after the other, over a link that marks and may lose; return their log."""
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no compiler of C++")

    def run(name: str, loss: float = 0.0, expect: int = 0) -> str:
        original, tree = originals.ORIGINALS[name], tmp_path / "tree"
        for file, text in (dict.fromkeys(original.sources, "") | STAND_INS[name]).items():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text(text)
        _, original_files = originals.scheme_files(
            original.pairs[0], originals.build(original, tree, tmp_path), tmp_path
        )
        path = tmp_path / "marks.toml"
        path.write_text(replace(originals.MARKS, mbps=2.0, loss=loss).toml("marks"))
        flows = ("--flows", "2", "--interval", "1.5", "--duration", "3", "--set", "log=none")
        dumbbell("run", "--schemes", original_files, "--path", str(path), *flows, "--out", "out", expect=expect)
        (log,) = (tmp_path / "out").glob("runs/*/*/*/log.txt")
        return log.read_text()

    return run


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], None]:
    """Make a mistake in a wrapper."""

    def change_wrapper(wrapper: str, before: str, after: str) -> None:
        text = (originals.WRAPPERS / wrapper).read_text()
        assert before in text
        folder = tmp_path / "wrappers"
        shutil.copytree(originals.WRAPPERS / "include", folder / "include")
        (folder / wrapper).write_text(text.replace(before, after))
        monkeypatch.setattr(originals, "WRAPPERS", folder)

    return change_wrapper


def numbers(log: str, word: str) -> list[int]:
    """Return the numbers after a word in a log, one for each flow."""
    return [int(number) for number in re.findall(rf"\b{word} (\d+)", log)]


def test_the_wrapper_of_scream_passes_marks_and_begins_rtp_timestamps_near_zero_in_each_flow(
    log_of: Callable[..., str],
) -> None:
    log = log_of("scream")
    assert len(numbers(log, "CE")) == 2, log
    assert min(numbers(log, "CE")) > 0, log


def test_a_wrapper_whose_rtp_timestamps_begin_with_the_run_is_found(
    log_of: Callable[..., str], change: Callable[[str, str, str], None]
) -> None:
    before, after = (
        "flow->began_ns = flow->now_ns = start->now_ns;",
        "flow->began_ns = 0, flow->now_ns = start->now_ns;",
    )
    change("scream.cc", before, after)
    assert "TIMESTAMP" in log_of("scream", expect=1)


def test_the_wrapper_of_prague_asks_for_l4s_and_tells_marks_and_losses_with_their_ack(
    log_of: Callable[..., str],
) -> None:
    log = log_of("prague", loss=0.02)
    for word in ("CE", "LOST"):
        assert len(numbers(log, word)) == 2, log
        assert min(numbers(log, word)) > 0, log


def test_a_wrapper_of_prague_that_does_not_ask_for_l4s_is_found(
    log_of: Callable[..., str], change: Callable[[str, str, str], None]
) -> None:
    change("quiche.cc", "flow->controller.EnableECT1();", "")
    assert "ECT1" in log_of("prague", expect=1)


def test_a_wrapper_of_prague_that_passes_no_marks_is_found(
    log_of: Callable[..., str], change: Callable[[str, str, str], None]
) -> None:
    change("quiche.cc", "controller.on_ecn = on_ecn;", "")
    assert numbers(log_of("prague"), "CE") == [0, 0]


def test_the_wrapper_of_mvfsts_copa_passes_losses_and_rtts_and_paces_by_bursts(log_of: Callable[..., str]) -> None:
    log = log_of("copa-mvfst", loss=0.02)
    assert min(numbers(log, "LOST")) > 0, log
    # 61.5 kB/s for 3 and 1.5 s, besides the first window of 12.3 kB
    first, second = numbers(log, "ACKED")
    assert 160_000 < first < 210_000, log
    assert 75_000 < second < 115_000, log


def test_a_wrapper_of_mvfsts_copa_that_takes_a_burst_for_a_packet_is_found(
    log_of: Callable[..., str], change: Callable[[str, str, str], None]
) -> None:
    change("mvfst.cc", "rate.burstSize * flow->connection.udpSendPacketLen", "flow->connection.udpSendPacketLen")
    assert max(numbers(log_of("copa-mvfst"), "ACKED")) < 100_000


def test_a_source_tree_that_is_absent_is_one_line_and_status_2(tmp_path: Path) -> None:
    for name, original in originals.ORIGINALS.items():
        words = ["-m", "validation.originals", name, "--source", str(tmp_path / "none")]
        result = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert f"none: no {original.sources[0]}: expected a source tree of {original.source}" in line


def test_a_difference_in_delay_of_two_milliseconds_is_within() -> None:
    assert Difference(own_mean=11.9, original_mean=10.0, half=0.0).verdict(0.10, 2.0) == "yes"
    assert Difference(own_mean=12.1, original_mean=10.0, half=0.0).verdict(0.10, 2.0) == "no"
    assert Difference(own_mean=12.1, original_mean=10.0, half=0.02).verdict(0.10, 2.0) == "open"
    assert Difference(own_mean=108.0, original_mean=100.0, half=0.0).verdict(0.10, 2.0) == "yes"
