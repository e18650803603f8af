"""The shapes of the JSON files of results: the kind of each value that is read.

Readers of results rely on them. A file that is damaged, or that somebody else made, is refused here in one line.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from dumbbell.core.metrics import labels, metric_definitions
from dumbbell.base.errors import UserError
from dumbbell.base.json_shape import Each, Table, require_shape
from dumbbell.catalog.published import MOST_METRIC

_PRODUCT = "(Mbit/s)^n"
"""Unit of metrics that grow with the number of flows: these may be any finite number."""
_NUMBER = int | float
_COUNT = int | None
_TEXTS = Each(str)
_TIMES = Table(
    {
        "started": str | None,
        "ended": str | None,
        "local_offset_ms": _NUMBER | None,
        "remote_offset_ms": _NUMBER | None,
    }
)
_COUNTED = Table({"forged": int, "replayed": int, "moved": int}, required=("forged", "replayed", "moved"))
_LATENESS = ("p50", "p90", "p99", "p999", "max", "bound", "packets")
_QLOG = Table(
    {"file": str, "events": int, "sampled": bool, "notes": _TEXTS}, required=("file", "events", "sampled", "notes")
)
_PROGRAMS = Each(Table({"flow": int, "side": str, "qlogs": Each(_QLOG)}, required=("flow", "side")))
_EMULATION = Table(
    {
        "lateness_us": Table(dict.fromkeys(_LATENESS, _NUMBER), required=_LATENESS),
        "tx_dropped": int,
        "socket_dropped": int,
        "ends_latest_us": _NUMBER | None,
        "ends": Each(Table({"wait_p99_us": _NUMBER}, required=("wait_p99_us",))),
        "real_time": bool | None,
        "remark": str | None,
        "programs": _PROGRAMS,
    },
    required=("lateness_us", "tx_dropped"),
    nothing=True,
)
_BUSY = Table({"busy": _NUMBER, "steal": _NUMBER | None}, required=("busy",), nothing=True)
_REMOTE = Table(
    {
        "mtu": Table({"there": int, "back": int}, required=("there", "back")),
        "hops": Each(dict),
        "tunnels": _TEXTS,
        "overhead_bytes": Each(int),
        "machines": Table({}, others=Table({"cpu": _BUSY})),
        "channel": _COUNTED,
        "flows": Each(Table({"guarded": _COUNTED}, required=("guarded",))),
        "remark": str | None,
        "programs": _PROGRAMS,
    },
    required=("mtu", "hops", "tunnels", "overhead_bytes", "machines", "channel", "flows"),
    nothing=True,
)

_COMPLETION = Table({"bytes": int, "flows": int}, required=("bytes", "flows"))

STATISTICS = Table(
    {
        "status": str,
        "backend": str,
        "reason": str | None,
        "started_at": str | None,
        "ended_at": str | None,
        "sim_wall_s": _NUMBER | None,
        "events": _COUNT,
        "attempts": int,
        "init_us": _NUMBER | None,
        "notes": _TEXTS,
        "imported": _TIMES,
        "emulation": _EMULATION,
        "remote": _REMOTE,
        "samples": Table({}, others=Table({}, others=str), nothing=True),
        "flows": Each(
            Table(
                {
                    "flow": int,
                    "scheme": str,
                    "start_s": _NUMBER | None,
                    "stop_s": _NUMBER | None,
                    "acklink": dict | None,
                    "media": dict | None,
                },
                required=("flow", "scheme"),
            )
        ),
        "links": Each(Table({"link": str, "direction": str}, required=("link", "direction"))),
        "network": Table(
            {
                "invalid_reason": str | None,
                "acklink": dict | None,
                "completions": Each(_COMPLETION),
                "competing_from_s": _NUMBER | None,
                "competing_to_s": _NUMBER | None,
            }
        ),
    },
    required=("status", "flows", "links", "network"),
)
"""That of `stats.json`."""

_GIT = Table(
    {"commit": str | None, "branch": str | None, "changed": _TEXTS}, required=("commit", "changed"), nothing=True
)
ENVIRONMENT = Table(
    {
        "results_id": str,
        "started_at": str | None,
        "command": _TEXTS,
        "dumbbell": str | None,
        "commit": str | None,
        "git": _GIT,
        "resumed": Each(dict),
        "importing_machine": dict | None,
        "imported": Table(
            {"source": str | None, "git_summary": str | None, "metadata": dict, "notes": _TEXTS}, nothing=True
        ),
    },
)
"""That of `environment.json`."""


def require_statistics(where: str, content: object) -> None:
    """Refuse what no statistics of a run look like.

    Raises:
        UserError: names the key and what is allowed, behind `where`.
    """
    try:
        require_shape(content, STATISTICS)
        assert isinstance(content, dict)
        for level, tables in (
            ("network", [content["network"]]),
            ("flow", content["flows"]),
            ("link", content["links"]),
        ):
            for table in tables:
                _require_metrics(level, table)
    except UserError as error:
        raise UserError(f"{where}: {error}: not the statistics of a run") from None


def _require_metrics(level: str, table: Mapping[str, Any], prefix: str = "") -> None:
    """Refuse metrics that are no numbers, or larger than anything measured."""
    for name, value in table.items():
        full = f"{prefix}{name}"
        if (level, full) in _metrics():
            if not isinstance(value, int | float | None):
                raise UserError(f"`{level}.{full}`: allowed is a number")
            if value is not None and abs(value) > _metrics()[level, full]:
                raise UserError(f"`{level}.{full}` = {value:g}: allowed is up to {MOST_METRIC:g}")
        elif isinstance(value, dict):
            _require_metrics(level, value, f"{full}.")
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict):
                    _require_metrics(level, each, f"{full}.")


@cache
def _metrics() -> Mapping[tuple[str, str], float]:
    """Return the largest value of each metric, by level and name."""
    named = [*metric_definitions(), *labels()]
    texts = {("flow", "scheme"), ("link", "link"), ("link", "direction"), ("network", "invalid_reason")}
    found = {(each["level"], each["name"]): math.inf if each.get("unit") == _PRODUCT else MOST_METRIC for each in named}
    return {key: most for key, most in found.items() if key not in texts}
