"""Tests of arbitrary text from a peer process: it is refused in one line, and shown without control characters."""

from typing import Any

import pytest

from dumbbell.base.errors import UserError
from dumbbell.cli.checks import print_checks
from dumbbell.experiment.doctor import Check
from dumbbell_remote import requirements, udp_reachability

HELLO = {"rights": {"checks": [{"name": "a", "good": True, "found": "b", "fix": "c"}]}, "kernel_controllers": ["cubic"]}


class Peer:
    """A peer process that answers as it is told to."""

    name = "lab"

    def __init__(self, hello: Any = HELLO, **answers: Any) -> None:  # noqa: ANN401 (any JSON)
        self.hello, self._answers = hello, answers

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, do: str, **_: object) -> tuple[Any, bytes]:
        return self._answers.get(do, {}), b""

    def begin(self, do: str, **_: object) -> "Peer":
        self._answers["result"] = self._answers.get(do, {})
        return self

    def result(self) -> tuple[Any, bytes]:
        return self._answers["result"], b""


@pytest.mark.parametrize(
    ("hello", "description"),
    [
        ({}, {"machine": {}}),
        (HELLO | {"rights": []}, {"machine": {}}),
        (HELLO | {"rights": {"checks": [{"name": "a"}]}}, {"machine": {}}),
        (HELLO | {"kernel_controllers": [1]}, {"machine": {}}),
        (HELLO, {}),
        (HELLO, {"machine": [1]}),
    ],
)
def test_a_peer_process_that_describes_itself_otherwise_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, hello: object, description: object
) -> None:
    monkeypatch.setattr(requirements, "Peer", lambda _: Peer(hello, describe=description))
    with pytest.raises(UserError, match=r"^lab: what it says of itself is not understood: "):
        requirements._hello_and_machine.__wrapped__(None)


@pytest.mark.parametrize("listen", [{}, {"port": "x"}, {"port": None}, {"port": {}}])
@pytest.mark.parametrize("answer", [{}, {"from": 7}])
def test_an_answer_that_is_none_says_why_nothing_arrives(listen: Any, answer: Any) -> None:  # noqa: ANN401 (any JSON)
    reason = udp_reachability.passes(Peer(), Peer(listen=listen, heard=answer), "192.0.2.1")  # type: ignore[arg-type]
    assert reason is not None
    assert reason.startswith("lab: what it answers is not understood: ")
    assert udp_reachability.passes(Peer(), Peer(listen={"port": 9}, heard={"from": ["::1", 9]}), "::1") is None  # type: ignore[arg-type]


def test_words_of_a_peer_process_do_not_reach_the_terminal_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "a\x1b]0;owned\x07\u202eb\n"
    print_checks([Check(evil, False, evil, evil)], False, "")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
