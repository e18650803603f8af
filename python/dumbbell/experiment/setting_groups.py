"""Settings that belong together: those of campaigns, and those that protect a link that others use."""

import math

from dumbbell.base.backend import Backend
from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import POLITE_BYTES, POLITE_MBPS, Settings, SettingValues

_ROUNDING = 1e-9
_CAPS = {"bandwidth_cap_mbps": POLITE_MBPS, "data_cap_bytes": POLITE_BYTES}
_ARGUMENTS = {"bandwidth_cap_mbps": "budget.bandwidth_mbps", "data_cap_bytes": "budget.data_bytes"}


def rounds(settings: Settings) -> int | None:
    """How often a campaign makes a run of each scheme; `None` of what is no campaign."""
    if settings.every_s is None or settings.for_s is None:
        return None
    return max(math.ceil(settings.for_s / settings.every_s - _ROUNDING), 1)


def completed(experiment_file: ExperimentFile) -> SettingValues:
    """Return settings that an experiment file leaves open: `runs` by its rounds, and the caps of a shared link.

    Raises:
        UserError: half of a schedule.
    """
    where = f"{experiment_file.file}: " if experiment_file.file else ""
    for given, needed, name, example in (
        ("every_s", "for_s", "campaign.lasts", "7d"),
        ("for_s", "every_s", "campaign.every", "1h"),
    ):
        if getattr(experiment_file, given) is not None and getattr(experiment_file, needed) is None:
            raise UserError(
                f"{where}`{given}` = {getattr(experiment_file, given):g}: needs `{needed}` beside it, "
                f"like {argument(name)} {example}"
            )
    found: SettingValues = {}
    made = rounds(experiment_file)
    if made is not None:
        found["runs"] = made
    if experiment_file.capabilities.shared_link:
        found |= {name: polite for name, polite in _CAPS.items() if getattr(experiment_file, name) is None}
    return found


def check_caps(settings: Settings, backend: Backend) -> None:
    """Refuses caps where there is no link to protect.

    Raises:
        UserError: the first of them.
    """
    if backend.capabilities.shared_link:
        return
    for name in _CAPS:
        value = getattr(settings, name)
        if value is not None:
            given = f"`{name}` = {value} ({argument(_ARGUMENTS[name])})"
            used = f"{argument('backend')} {backend.full_name}"
            raise UserError(f"{given}: allowed over a network only: {used} sends nothing over anybody's link")
