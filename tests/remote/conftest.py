"""Two machines for a test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .bed import Bed, why_not


@pytest.fixture(scope="session", name="_machines")
def _machines_can_be_made() -> None:
    """Skip tests that need two machines where they cannot be made."""
    reason = why_not()
    if reason is not None:
        pytest.skip(f"no two machines here: {reason}")


@pytest.fixture
def make_bed(_machines: None, tmp_path: Path) -> Iterator[Callable[..., Bed]]:
    """Return a function that makes two machines; they are gone after the test."""
    with ExitStack() as stack:

        def make(path: str | None = None, **settings: object) -> Bed:
            folder = tmp_path / f"bed{len(list(tmp_path.glob('bed*')))}"
            folder.mkdir()
            return stack.enter_context(Bed(folder, path, **settings))  # type: ignore[arg-type]

        yield make


@pytest.fixture
def bed(make_bed: Callable[..., Bed]) -> Bed:
    """Return two machines with 20 Mbit/s and 20 ms between them; ssh has a link of its own."""
    return make_bed()
