"""`pantheon_metadata.json` of every generation: 2016-17 (one line), January 2018, and the last version."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.catalog.settings import MOST_FLOWS
from dumbbell.errors import UserError, one_line
from dumbbell.json_text import BadJson, parse_json
from dumbbell.names import RULE, is_name


@dataclass(frozen=True)
class PantheonMetadata:
    """What a Pantheon data directory says about its experiment."""

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

    @property
    def title(self) -> str:
        """The path in words."""
        if self.local:
            return f"mahimahi: {self.command}"
        sender = self.raw.get("sender_side", "local")
        ends = {
            "local": self._end("local_desc", "local_information", "local"),
            "remote": self._end("remote_desc", "remote_information", "remote"),
        }
        receiver = "remote" if sender == "local" else "local"
        return f"{ends[sender]} to {ends[receiver]}"

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


def read_metadata(source: Path) -> PantheonMetadata:
    """The metadata of the data directory `source`.

    Raises:
        UserError: absent, unreadable, or not what any version of Pantheon wrote.
    """
    file = source / "pantheon_metadata.json"
    try:
        raw = parse_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{source}: not a Pantheon data directory: no pantheon_metadata.json in it") from None
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {one_line(error)}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{file}:1: not a JSON object")
    mode = raw.get("mode", "local" if "uplink_trace" in raw else "remote")
    if mode not in ("local", "remote"):
        raise UserError(f"{file}: `mode` = {mode}: allowed are local, remote")
    return PantheonMetadata(
        file=file,
        schemes=_schemes(file, raw),
        flows=_whole(file, raw, "flows", 1, 0),
        runtime_s=_seconds(file, raw, "runtime", 30.0),
        interval_s=_seconds(file, raw, "interval", 0.0),
        run_times=_whole(file, raw, "run_times", 1, 1),
        start_run_id=_whole(file, raw, "start_run_id", 1, 1),
        random_order=bool(raw.get("random_order", False)),
        local=mode == "local",
        git_summary=str(raw.get("git_summary", raw.get("git_information", ""))),
        raw=raw,
    )


def _schemes(file: Path, raw: dict[str, Any]) -> tuple[str, ...]:
    given = raw.get("cc_schemes")
    schemes = given.split() if isinstance(given, str) else given
    if not isinstance(schemes, list) or not schemes:
        raise UserError(f"{file}: `cc_schemes`: needed is a list of schemes, or one text with spaces between them")
    for scheme in schemes:
        if not isinstance(scheme, str) or not is_name(scheme):
            raise UserError(f"{file}: `cc_schemes`: `{scheme}` is not the name of a scheme: allowed are {RULE}")
    return tuple(dict.fromkeys(schemes))


def _whole(file: Path, raw: dict[str, Any], key: str, default: int, least: int) -> int:
    value = raw.get(key, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_FLOWS:
        raise UserError(f"{file}: `{key}` = {value}: allowed is a whole number, at least {least}")
    return value


def _seconds(file: Path, raw: dict[str, Any], key: str, default: float) -> float:
    """Pantheon writes whole seconds; our exports may have fractions."""
    value = raw.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1e6:
        raise UserError(f"{file}: `{key}` = {value}: allowed is a number of seconds, at least 0")
    return float(value)
