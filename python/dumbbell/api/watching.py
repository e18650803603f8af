"""Display of active runs: pages for the browser, lines on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import printable
from dumbbell.base.progress import Progress

if TYPE_CHECKING:
    from dumbbell.execution.perform import Beside
    from dumbbell.present.serve.runs_table import Place
    from dumbbell.results import ResultsDirectory


def showing(live: bool, watch: bool) -> Beside | None:
    """Return a context that shows active runs in the browser (`live`) and on the terminal (`watch`); None for neither.

    Raises:
        UserError: If the pages were not built.
    """
    if live:
        from dumbbell.present.serve.application import require_pages

        require_pages()

    @contextmanager
    def show(parts: Sequence[ResultsDirectory], progress: Progress) -> Iterator[None]:
        with ExitStack() as stack:
            if live:
                stack.enter_context(_served(parts, progress))
            if watch:
                stack.enter_context(_lines(parts, progress))
            yield

    return show if live or watch else None


def _lines(parts: Sequence[ResultsDirectory], progress: Progress) -> AbstractContextManager[None]:
    from dumbbell.present.live_lines import LiveLines
    from dumbbell.results.live_runs import LiveResults

    places = [LiveResults(part) for part in parts]
    return progress.below(LiveLines(lambda: [run for place in places for run in place.look()[1]]))


@contextmanager
def _served(parts: Sequence[ResultsDirectory], progress: Progress) -> Iterator[None]:
    """Show results directories to the browser of this machine, until their runs are made."""
    from dumbbell.present.serve.runs_table import Place

    places = [Place(f"d{number}", part.directory.name, part) for number, part in enumerate(parts, 1)]
    with served(places, progress.line):
        yield
    progress.line(printable(f"`dumbbell serve {' '.join(str(part.directory) for part in parts)}` shows the results"))


@contextmanager
def served(places: Sequence[Place], say: Callable[[str], None], live_folder: Path | None = None) -> Iterator[None]:
    """Answer browsers on this machine during the context. `live_folder` has runs without results."""
    from dumbbell.present.serve.server import Server

    server = Server(places, shown=live_folder)
    server.start()
    try:
        say(f"live: {server.address}#/live (only this machine can open it)")
        yield
    finally:
        server.stop()
