"""Choice of a controller's sampled variables for a figure: its modes, and the variables that decide."""

from collections.abc import Mapping, Sequence

import numpy

from dumbbell.present.model.series import Lines
from dumbbell.present.plots import Modes, StateLine, Variable
from dumbbell.results.series.samples import STATE_FIELDS, Samples, Series, thinned, value_names

OF_TRANSPORT = frozenset(
    {
        "cwnd",
        "delivered",
        "delivery_rate",
        "encoder_rate",
        "frame_delay",
        "frame_size",
        "in_flight",
        "latest_rtt",
        "lowest_rtt",
        "pacing",
        "pacing_rate",
        "recovery",
        "rttvar",
        "srtt",
        "ssthresh",
        "window",
    }
)
"""Fields that have figures of their own, or are unrelated to the controller."""

DECISIVE: tuple[tuple[str, ...], ...] = (
    ("pacing_gain", "cwnd_gain"),
    ("velocity",),
    ("delta",),
    ("alpha",),
    ("diff",),
    ("w_max", "w_est"),
    ("queueing_delay",),
    ("queuing_delay", "target"),
    ("qdelay",),
    ("forward_delay", "min_rtt"),
    ("set_point", "smoothed_rtt"),
    ("max_bw", "bw_shortterm"),
    ("bw", "full_bw"),
    ("bandwidth", "rate"),
    ("rate", "base_rate"),
    ("target_rate",),
    ("target", "delay_based"),
    ("utility",),
    ("gain",),
    ("forecast",),
    ("loss_based",),
    ("queue_estimate",),
)
"""Variables that explain the actions of controllers, the most useful first; those of an entry share a plot and a
unit."""

_MOST_MODES, _MOST_VARIABLES = 2, 3


def state_of(samples: Samples, lines: Lines, start_s: float) -> tuple[list[Modes], list[Variable]]:
    """Return the modes of all flows and the variables for `state_figure`; times count from `start_s`."""

    def flows(field: str) -> list[StateLine]:
        series_by_flow = {int(flow): series for flow, series in samples.series.get(field, {}).items()}
        return [
            StateLine(lines[flow].label, lines[flow].stroke, thinned(_since(series, start_s)))
            for flow, series in sorted(series_by_flow.items())
            if flow in lines and len(series[0])
        ]

    switches, pairs = _choice(samples)
    return (
        [Modes(field, value_names(samples.units[field]), flows(field)) for field in switches],
        [
            Variable(_label(pair, samples.units), flows(pair[0]), flows(pair[1]) if len(pair) > 1 else ())
            for pair in pairs
        ],
    )


def chosen_fields(samples: Samples) -> list[str]:
    """Return the names of the fields in the figure."""
    switches, pairs = _choice(samples)
    return [*switches, *(field for pair in pairs for field in pair)]


def _choice(samples: Samples) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return modes, and variables in pairs that share a plot; an unfamiliar controller shows its first variables."""
    controller_fields = [field for field in samples.series if field not in OF_TRANSPORT]
    mode_fields = {field for field in controller_fields if value_names(samples.units[field])}
    switches = [field for field in mode_fields if field in STATE_FIELDS or _varies(samples.series[field])]
    switches.sort(key=lambda field: (field not in STATE_FIELDS, field))
    numbers = [field for field in controller_fields if field not in mode_fields]
    pairs = [tuple(field for field in entry if field in numbers) for entry in DECISIVE if entry[0] in numbers]
    plots = _without_doubles(pairs) or [(field,) for field in sorted(numbers)]
    return switches[:_MOST_MODES], plots[:_MOST_VARIABLES]


def _label(fields: Sequence[str], units: Mapping[str, str]) -> str:
    unit = units[fields[0]].partition(",")[0]
    return f"{', dashed '.join(fields)}{f' ({unit})' if unit else ''}"


def _without_doubles(pairs: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the pairs with each variable once: a later pair loses repeated variables."""
    earlier_fields: set[str] = set()
    distinct_pairs = []
    for pair in pairs:
        if pair[0] not in earlier_fields:
            distinct_pairs.append(tuple(field for field in pair if field not in earlier_fields))
            earlier_fields |= set(pair)
    return distinct_pairs


def _varies(series: Mapping[str, Series]) -> bool:
    return any(len(values) and values.min() != values.max() for _, values in series.values())


def _since(series: Series, start_s: float) -> Series:
    return numpy.asarray(series[0]) - start_s, series[1]
