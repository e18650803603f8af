"""`pantheon_metadata.json` of every generation: 2016-17 (one line), January 2018, and the last version."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.names import RULE, is_name
from dumbbell.catalog.experiment_file import mix_label, parse_mix
from dumbbell.catalog.experiment_settings import MOST_FLOWS, MOST_SECONDS
from dumbbell.catalog.toml_tables import MOST_TITLE
from dumbbell.formats.pantheon_text import read_text
from dumbbell.results.numbers import is_number

METADATA = "pantheon_metadata.json"
MOST_LEVELS = 4


def data_directories(source: Path) -> list[Path]:
    """Return the directories with metadata at or below `source`, sorted. Links to directories are not followed."""
    directories = []
    for place, inside, names in os.walk(source):
        inside.sort()
        if METADATA in names:
            directories.append(Path(place))
        if METADATA in names or len(Path(place).relative_to(source).parts) == MOST_LEVELS:
            inside.clear()
    return sorted(directories)


@dataclass(frozen=True)
class PantheonMetadata:
    """Metadata of a Pantheon data directory about its experiment."""

    file: Path
    schemes: tuple[str, ...]
    flows: int
    runtime_s: float
    interval_s: float
    run_times: int
    start_run_id: int
    random_order: bool
    local: bool
    git_summary: str
    raw: dict[str, Any]
    remarks: tuple[str, ...] = ()
    """Unusual but accepted facts about the file."""
    mixes: dict[str, str] = field(default_factory=dict)
    """Keys of `schemes` that stand for a mix, in dumbbell's exports: `cubicx2-bbr` is `cubic*2+bbr`."""

    @property
    def planned_runs(self) -> range:
        """Numbers of the runs that the test planned."""
        return range(self.start_run_id, self.start_run_id + self.run_times)

    @property
    def title(self) -> str:
        """Description of the path."""
        if self.local:
            return _line(f"mahimahi: {self.command}")[:MOST_TITLE]
        sender = self.raw.get("sender_side", "local")
        ends = {
            "local": self._end("local_desc", "local_information", "local"),
            "remote": self._end("remote_desc", "remote_information", "remote"),
        }
        receiver = "remote" if sender == "local" else "local"
        return _line(f"{ends[sender]} to {ends[receiver]}")[:MOST_TITLE]

    def _end(self, *keys: str) -> str:
        return next((str(self.raw[key]) for key in keys if self.raw.get(key)), keys[-1])

    @property
    def command(self) -> str:
        """The mahimahi command of a local test."""
        parts = [
            self.raw.get("prepend_mm_cmds"),
            f"mm-link {self.raw.get('uplink_trace')} {self.raw.get('downlink_trace')}",
            self.raw.get("extra_mm_link_args"),
            self.raw.get("append_mm_cmds"),
        ]
        return " ".join(str(part) for part in parts if part)


def read_metadata(source: Path, strict: bool = False) -> PantheonMetadata:
    """Return the metadata of the data directory `source`.

    Raises:
        UserError: If the file is absent, unreadable, or not from any version of Pantheon.
    """
    file = source / METADATA
    try:
        text, remarks = read_text(file, strict, _MOST_BYTES)
        raw = _plain(parse_json(text))
    except FileNotFoundError:
        sets = data_directories(source)
        below = f" (those below it are read by `dumbbell import pantheon`, like {sets[0]})" if sets else ""
        raise UserError(f"{source}: not a Pantheon data directory: no {METADATA} in it{below}") from None
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{file}:1: not a JSON object")
    numbers = _Numbers(file, raw, strict, remarks)
    mode = raw.get("mode", "local" if "uplink_trace" in raw else "remote")
    for key, value, choices in (("mode", mode, _MODES), ("sender_side", raw.get("sender_side", "local"), _SIDES)):
        if value not in choices:
            raise UserError(f"{file}: `{key}` = {shortened(value)}: allowed are {', '.join(choices)}")
    return PantheonMetadata(
        file=file,
        schemes=_schemes(file, raw),
        flows=numbers.whole("flows", 1, 0),
        runtime_s=numbers.seconds("runtime", 30.0),
        interval_s=numbers.seconds("interval", 0.0),
        run_times=numbers.whole("run_times", 1, 1),
        start_run_id=numbers.whole("start_run_id", 1, 1),
        random_order=bool(raw.get("random_order", False)),
        local=mode == "local",
        git_summary=str(raw.get("git_summary", raw.get("git_information", ""))),
        raw=raw,
        remarks=tuple(remarks),
        mixes=_mixes(file, raw),
    )


_MODES = ("local", "remote")
_SIDES = ("local", "remote")


_MOST_BYTES = 16 << 20
"""Maximum size of the file. A git summary has a line for each changed file of each submodule: public ones have 1.7
MB."""


def _plain(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Return a JSON value without control characters, except newlines."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in value)
    return value


def _line(value: object) -> str:
    return " ".join(str(value).split())


def shortened(value: object) -> str:
    """Return a value as text for messages."""
    text = printable(_line(value))
    return text if len(text) <= 80 else f"{text[:80]}..."


def _schemes(file: Path, raw: dict[str, object]) -> tuple[str, ...]:
    names = raw.get("cc_schemes")
    schemes = names.split() if isinstance(names, str) else names
    if not isinstance(schemes, list) or not schemes:
        raise UserError(f"{file}: `cc_schemes`: needed is a list of schemes, or one text with spaces between them")
    for scheme in schemes:
        if not isinstance(scheme, str) or not is_name(scheme):
            raise UserError(
                f"{file}: `cc_schemes`: `{shortened(scheme)}` is not the name of a scheme: allowed are {RULE}"
            )
    return tuple(dict.fromkeys(schemes))


def _mixes(file: Path, raw: dict[str, object]) -> dict[str, str]:
    table = raw.get("mixes", {})
    if not isinstance(table, dict):
        raise UserError(f"{file}: `mixes` = {shortened(table)}: allowed is a table of mixes by their keys")
    mixes = {}
    for key, mix in table.items():
        try:
            parts = parse_mix(mix if isinstance(mix, str) else "")
        except UserError as error:
            raise UserError(f"{file}: `mixes.{shortened(key)}`: {error}") from None
        names = [name for name, _ in parts]
        if sum(count for _, count in parts) > MOST_FLOWS or not all(map(is_name, names)):
            raise UserError(f"{file}: `mixes.{shortened(key)}` = {shortened(mix)}: not a mix of schemes")
        mixes[key] = mix_label(parts)
    return mixes


@dataclass(frozen=True)
class _Numbers:
    """The numbers of the metadata. Some forks of Pantheon write them as strings."""

    file: Path
    raw: dict[str, object]
    strict: bool
    remarks: list[str]

    def whole(self, key: str, default: int, least: int) -> int:
        """Return a count."""
        value = self._number(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or not least <= value <= MOST_FLOWS:
            raise self._refusal(key, f"a whole number, {least} to {MOST_FLOWS}")
        return value

    def seconds(self, key: str, default: float) -> float:
        """Return a time, s. Pantheon writes integers; dumbbell's exports may have fractions."""
        value = self._number(key, default)
        if value is None or not 0.0 <= value <= MOST_SECONDS:
            raise self._refusal(key, "a number of seconds, at least 0")
        return float(value)

    def _number(self, key: str, default: float) -> int | float | None:
        value = self.raw.get(key, default)
        if isinstance(value, str) and not self.strict and re.fullmatch(r"\s*[0-9]{1,9}(\.[0-9]{1,9})?\s*", value):
            self.remarks.append(f"{self.file}: `{key}` is the text `{value}`, taken as a number")
            value = float(value) if "." in value else int(value)
        return value if is_number(value) else None

    def _refusal(self, key: str, range_text: str) -> UserError:
        return UserError(f"{self.file}: `{key}` = {shortened(self.raw.get(key))}: allowed is {range_text}")
