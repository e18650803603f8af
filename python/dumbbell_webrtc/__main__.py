"""Sender or receiver of a video call between two real browsers.

    python -m dumbbell_webrtc send --rendezvous SOCKET [--samples FILE] [--trials TRIALS] [--width N] ...
    python -m dumbbell_webrtc receive --rendezvous SOCKET [--samples FILE] [--trials TRIALS]

Either runs until SIGTERM. Exit status: 0 for a valid call, 1 for a failed call, 2 for wrong arguments, 3 for a call
that must not be used. The last line gives the reason.
"""

import argparse
import math
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from dumbbell.base.errors import one_line
from dumbbell_webrtc.call import Place, Video, receive, send
from dumbbell_webrtc.errors import CallError, StopRequest
from dumbbell_webrtc.trials import parse

FAILED, WRONG, INVALID = 1, 2, 3
CODECS = ("VP8", "VP9", "AV1", "H264")


class _Parser(argparse.ArgumentParser):
    """Argument parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        print(f"dumbbell_webrtc: {message}", file=sys.stderr)
        sys.exit(WRONG)


def main(arguments: list[str]) -> int:
    """Run the sender or receiver and return the exit status."""
    options = _parse(arguments)
    place = Place(options.rendezvous, options.side, options.samples, options.trials)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    try:
        if options.side == "receive":
            objection = receive(place)
        else:
            video = Video(
                width=options.width,
                height=options.height,
                fps=options.fps,
                noise=options.noise,
                seed=options.seed,
                codec=options.codec,
                max_mbps=options.max_mbps,
            )
            objection = send(place, video)
    except StopRequest:
        return 0  # before there was a call
    except CallError as error:
        print(one_line(error), flush=True)
        return FAILED
    if objection:
        print(objection, flush=True)
        return INVALID
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Stop the call. Ignore further signals, since the shutdown has begun."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise StopRequest


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="dumbbell_webrtc", description="One side of a video call.", allow_abbrev=False)
    sides = parser.add_subparsers(dest="side", required=True, metavar="send|receive")
    for side in ("send", "receive"):
        sub = sides.add_parser(side, allow_abbrev=False)
        sub.add_argument("--rendezvous", type=Path, required=True, help="socket at which the sides meet")
        sub.add_argument("--samples", type=Path, help="file for samples of the browser's state")
        sub.add_argument("--trials", type=_trials, default="", help="field trials, NAME/GROUP/...")
        if side == "send":
            sub.add_argument("--width", type=_number(16, 3840, even=True), default=1280)
            sub.add_argument("--height", type=_number(16, 2160, even=True), default=720)
            sub.add_argument("--fps", type=_number(1, 120), default=30)
            sub.add_argument("--noise", type=_real(0, 127), default=15.0)
            sub.add_argument("--seed", type=_number(1, 2**31), default=1)
            sub.add_argument("--codec", choices=CODECS, default="VP8")
            sub.add_argument("--max-mbps", type=_most, default=10.0, help="or `default`: the browser's own limit")
    return parser.parse_args(arguments)


def _trials(text: str) -> str:
    try:
        parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _number(least: int, maximum: int, even: bool = False) -> Callable[[str], int]:
    def read(text: str) -> int:
        message = f"allowed is {'an even' if even else 'a whole'} number from {least} to {maximum}"
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text}: {message}") from None
        if not least <= value <= maximum or (even and value % 2):
            raise argparse.ArgumentTypeError(f"{text}: {message}")
        return value

    return read


def _real(least: float, maximum: float, words: str = "") -> Callable[[str], float]:
    def read(text: str) -> float:
        message = f"allowed is {words}a number from {least:g} to {maximum:g}"
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text}: {message}")
        return value

    return read


def _most(text: str) -> float | None:
    return None if text == "default" else _real(0.1, 100, "`default` or ")(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
