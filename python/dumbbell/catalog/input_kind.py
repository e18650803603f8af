"""What something is that was given in the place of something else: a path file as an experiment, and the like."""

from collections.abc import Mapping
from pathlib import Path

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.outside.plugin_schemes import plugin_kind
from dumbbell.catalog.toml_tables import read_toml
from dumbbell.catalog.trace_files import read_trace

_ARGUMENTS = {"path": "path", "scheme": "schemes", "trace": "path", "plug-in": "plugins"}
"""Arguments that take a name or a file of each kind. Experiments have none: they come first."""

_KEYS = {
    "path": {"data", "ack", "overhead_bytes", "mtu_bytes", "fragment"},
    "scheme": {"controller", "parameters", "transport", "kind", "program", "color", "marker", "status"},
    "experiment": {"schemes", "mixes", "paths", "flow", "grid", "runs", "duration_s", "scheme", "path", "benchmark"},
}
"""Keys at the top of a file that no other kind of file has."""


def what_it_is(text: str, names: Mapping[str, list[str]]) -> str:
    """`a path file: --path office.toml`, or nothing if it is none of the kinds in `names`, which has theirs."""
    for kind, known in names.items():
        if text in known:
            return f"{_article(kind)}: {_how_to_use(kind, text)}"
    if _is_file(Path(text) / "experiment.toml"):
        return f"a results directory: dumbbell show {text}"
    kind = _kind_of_file(Path(text))
    if kind in names or kind in ("trace", "plug-in"):
        return f"{_article(kind)} file: {_how_to_use(kind, text)}"
    return ""


def _how_to_use(kind: str, text: str) -> str:
    return f"dumbbell run {text}" if kind == "experiment" else f"{argument(_ARGUMENTS[kind])} {text}"


def _article(kind: str) -> str:
    return f"{'an' if kind == 'experiment' else 'a'} {kind}"


def _is_file(file: Path) -> bool:
    """Whether there is such a file; a name that no file can have, too long for one, has none."""
    try:
        return file.is_file()
    except OSError:
        return False


def _kind_of_file(file: Path) -> str:
    """The kind of a file, or nothing."""
    if not _is_file(file):
        return ""
    if plugin_kind(file.name):
        return "plug-in"
    try:
        if file.suffix != ".toml":
            read_trace(file)
            return "trace"
        given = read_toml(file).raw.keys()
    except UserError:
        return ""
    counts = {kind: len(given & keys) for kind, keys in _KEYS.items()}
    most = max(counts, key=lambda kind: counts[kind])
    return most if counts[most] and list(counts.values()).count(counts[most]) == 1 else ""
