"""Recognition of an input of another kind than expected, for example a path file instead of an experiment."""

from collections.abc import Mapping
from pathlib import Path

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.outside.plugin_schemes import plugin_kind
from dumbbell.catalog.toml_tables import read_toml
from dumbbell.catalog.trace_files import read_trace

_ARGUMENTS = {"path": "path", "scheme": "schemes", "trace": "path", "plug-in": "plugins"}
"""Arguments that take a name or a file of each kind. Experiments need none: they are the first argument."""

_KEYS = {
    "path": {"data", "ack", "overhead_bytes", "mtu_bytes", "fragment"},
    "scheme": {"controller", "parameters", "transport", "kind", "program", "color", "marker", "status"},
    "experiment": {"schemes", "mixes", "paths", "flow", "grid", "runs", "duration_s", "scheme", "path", "benchmark"},
}
"""Top-level keys of a file that files of other kinds do not have."""


def what_it_is(text: str, names: Mapping[str, list[str]]) -> str:
    """Return the kind and the use of an input (`a path file: --path office.toml`).

    Empty if its kind is not in `names`.
    """
    for kind, known_names in names.items():
        if text in known_names:
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
    """Return True if the file exists; False for a name that no file can have, such as a too long one."""
    try:
        return file.is_file()
    except OSError:
        return False


def _kind_of_file(file: Path) -> str:
    """Return the kind of a file, or an empty string."""
    if not _is_file(file):
        return ""
    if plugin_kind(file.name):
        return "plug-in"
    try:
        if file.suffix != ".toml":
            read_trace(file)
            return "trace"
        file_keys = read_toml(file).raw.keys()
    except UserError:
        return ""
    counts = {kind: len(file_keys & keys) for kind, keys in _KEYS.items()}
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] and list(counts.values()).count(counts[best]) == 1 else ""
