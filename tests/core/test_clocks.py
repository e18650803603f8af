"""Test of the reference skews of the crate `clocks`: they come from the linear program that its page names."""

import json

from support.by_hand.clocks import FILE, vectors


def test_the_vectors_are_what_the_linear_program_gives() -> None:
    assert json.loads(FILE.read_text()) == json.loads(json.dumps(vectors()))
