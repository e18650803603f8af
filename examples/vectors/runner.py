"""Run scripts (docs/how-to/vectors.md) with a controller in Python: put yours in the place of `Reno`.

python3 runner.py SCRIPT...
"""

import math
import sys
from pathlib import Path


class Reno:
    """RFC 5681 in packets; `undo` is the state before the latest loss."""

    def __init__(self, window: float) -> None:
        self.cwnd, self.ssthresh, self.undo = window, math.inf, None

    def on_ack(self, packets: float, in_recovery: bool, window_limited: bool) -> None:
        """Grow the window."""
        if not in_recovery and window_limited:
            growth = min(packets, max(self.ssthresh - self.cwnd, 0.0))  # slow start, equation 2
            self.cwnd += growth
            self.cwnd += (packets - growth) / self.cwnd  # congestion avoidance, equation 3

    def on_congestion(self, is_loss: bool) -> None:
        """Reduce after a loss or a mark."""
        self.undo = (self.cwnd, self.ssthresh) if is_loss else None
        self.cwnd = self.ssthresh = max(self.cwnd / 2.0, 2.0)  # equation 4

    def on_timeout(self, is_repeated: bool) -> None:
        """Start over with one packet."""
        if not is_repeated:
            self.ssthresh = max(self.cwnd / 2.0, 2.0)
        self.cwnd, self.undo = 1.0, None

    def on_spurious(self) -> None:
        """Undo the latest reduction."""
        if self.undo:
            (self.cwnd, self.ssthresh), self.undo = self.undo, None


def numbers(text: str) -> list[int]:
    """Return the packets that `0..3,5` names."""
    ends = [part.split("..") for part in text.split(",")]
    return [number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)]


def holds(condition: str, values: dict[str, float]) -> bool:
    """Return True if a condition such as `cwnd=20~1%` holds."""
    for operator in (">=", "<=", "="):
        name, found_value, text = condition.partition(operator)
        if found_value:
            break
    value, (text, _, by) = values[name], text.partition("~")
    if text == "none":
        return math.isinf(value)
    expected_value = float(text)
    near = float(by[:-1]) / 100 * abs(expected_value) if by.endswith("%") else float(by or 1e-6 * abs(expected_value))
    return {">=": value >= expected_value, "<=": value <= expected_value, "=": abs(value - expected_value) <= near}[
        operator
    ]


def run(file: str) -> int:
    """Run a script; return how many conditions fail."""
    header, reno = {"mss": "1000", "window": "10"}, None
    size, at_send, fate = {}, {}, {}  # of each packet: bytes, delivered when it left, f(lying), a(cked), l(ost)
    in_flight = delivered_bytes = episode_from = round_ends = next_number = failures = 0
    in_episode = timed_out = is_limited = limited_before = False
    for number, line in enumerate(Path(file).read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words or number == 1:
            continue
        if words[0][0] != "@" and words[0] != "expect":
            header[words[0]] = words[1]
            continue
        reno, mss = reno or Reno(float(header["window"])), int(header["mss"])
        if words[0] == "expect":
            for condition in words[1:]:
                if not holds(condition, vars(reno)):
                    print(f"{file}: line {number}: {condition}, but cwnd={reno.cwnd} ssthresh={reno.ssthresh}")
                    failures += 1
            continue
        event, packets = words[1], numbers(words[2]) if len(words) > 2 and "=" not in words[2] else []
        fields = dict(word.split("=") for word in words[2:] if "=" in word)
        unknown = fields.keys() - {"every", "bytes", "ce", "packets", "window_limited", "releases"}
        if unknown or event not in ("sent", "ack", "lost", "timeout", "ecn", "recovered", "spurious"):
            sys.exit(f"{file}: line {number}: not understood by this runner: {event} {' '.join(sorted(unknown))}")
        acks = (
            ([[packet_number] for packet_number in packets] if "every" in fields else [packets])
            if event == "ack"
            else []
        )
        released_packets = numbers(fields["releases"]) if "releases" in fields else []
        ends = (
            [len(released_packets) * n // len(acks) for n in range(len(acks) + 1)] if acks else []
        )  # spread evenly over the ACKs
        steps = [(ack, released_packets[ends[n] : ends[n + 1]]) for n, ack in enumerate(acks)]
        for acked_packets, leaving in [([], packets)] if event == "sent" else steps:
            for packet in acked_packets:
                in_flight, fate[packet] = in_flight - (size[packet] if fate[packet] == "f" else 0), "a"
            if acked_packets:
                delivered_bytes, newest = (
                    delivered_bytes + sum(size[packet] for packet in acked_packets),
                    max(acked_packets),
                )
                in_episode, timed_out = in_episode and newest < episode_from, False
                window_limited = fields.get("window_limited", "yes" if is_limited or limited_before else "no")
                reno.on_ack(sum(size[packet] for packet in acked_packets) / mss, in_episode, window_limited == "yes")
                if at_send[newest] >= round_ends:
                    round_ends, limited_before, is_limited = delivered_bytes, is_limited, False
            for packet in leaving:
                size[packet], at_send[packet], fate[packet] = int(fields.get("bytes", mss)), delivered_bytes, "f"
                in_flight, next_number = in_flight + size[packet], packet + 1
                is_limited = is_limited or in_flight + mss > int(reno.cwnd * mss)
        if event == "lost":
            is_new, fate = max(packets) >= episode_from, fate | dict.fromkeys(packets, "l")
            in_flight -= sum(size[packet] for packet in packets)
        if (event == "lost" and is_new) or (event == "ecn" and not in_episode):
            reno.on_congestion(event == "lost")
            episode_from, in_episode = next_number, True
        if event == "timeout":
            reno.on_timeout(timed_out)
            fate = {packet: "a" if was == "a" else "l" for packet, was in fate.items()}
            in_flight, episode_from, in_episode, timed_out = 0, next_number, False, True
        if event in ("recovered", "spurious"):
            in_episode = False
            if event == "spurious":
                reno.on_spurious()
    print(f"{file}: {'failed' if failures else 'passed'}")
    return failures


if __name__ == "__main__":
    sys.exit(1 if sum([run(file) for file in sys.argv[1:]]) else 0)
