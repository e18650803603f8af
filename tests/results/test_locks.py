"""Tests of locks: a held lock is tried for a moment, by the caller's clock."""

import os
from pathlib import Path

from dumbbell.results.files import _TRIES, _TRY_AGAIN_S, taken
from support.clock import ManualClock


def test_a_lock_that_is_held_is_tried_several_times(tmp_path: Path, clock: ManualClock) -> None:
    file = tmp_path / "lock"
    file.touch()
    first, second = (os.open(file, os.O_RDONLY) for _ in range(2))
    assert taken(first, clock)
    assert clock.slept_s == []
    assert not taken(second, clock)
    assert clock.slept_s == [_TRY_AGAIN_S] * _TRIES
    os.close(first)
    assert taken(second, clock)
    os.close(second)
