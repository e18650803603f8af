"""Groups of settings: for campaigns, and for the protection of a link that other people use."""

import math

from dumbbell.base.backend import Backend
from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import POLITE_BYTES, POLITE_MBPS, Settings, SettingValues

_ROUNDING = 1e-9
_CAPS = {"bandwidth_cap_mbps": POLITE_MBPS, "data_cap_bytes": POLITE_BYTES}
_ARGUMENTS = {"bandwidth_cap_mbps": "budget.bandwidth_mbps", "data_cap_bytes": "budget.data_bytes"}


def rounds(settings: Settings) -> int | None:
    """Return the number of rounds of a campaign; None without a schedule."""
    if settings.every_s is None or settings.for_s is None:
        return None
    return max(math.ceil(settings.for_s / settings.every_s - _ROUNDING), 1)


def completed(experiment_file: ExperimentFile) -> SettingValues:
    """Return the settings that an experiment file leaves open: `runs` from its rounds, and the caps of a shared link.

    Raises:
        UserError: If one of the two keys of a schedule is missing.
    """
    prefix = f"{experiment_file.file}: " if experiment_file.file else ""
    for present_key, missing_key, name, example in (
        ("every_s", "for_s", "campaign.lasts", "7d"),
        ("for_s", "every_s", "campaign.every", "1h"),
    ):
        if getattr(experiment_file, present_key) is not None and getattr(experiment_file, missing_key) is None:
            raise UserError(
                f"{prefix}`{present_key}` = {getattr(experiment_file, present_key):g}: needs `{missing_key}` "
                f"beside it, like {argument(name)} {example}"
            )
    values: SettingValues = {}
    round_count = rounds(experiment_file)
    if round_count is not None:
        values["runs"] = round_count
    if experiment_file.capabilities.shared_link:
        values |= {name: polite for name, polite in _CAPS.items() if getattr(experiment_file, name) is None}
    return values


def check_caps(settings: Settings, backend: Backend) -> None:
    """Raise an error for caps without a link to protect.

    Raises:
        UserError: If a cap is set; the message names the first one.
    """
    if backend.capabilities.shared_link:
        return
    for name in _CAPS:
        value = getattr(settings, name)
        if value is not None:
            cap_text = f"`{name}` = {value} ({argument(_ARGUMENTS[name])})"
            used = f"{argument('backend')} {backend.full_name}"
            raise UserError(f"{cap_text}: allowed over a network only: {used} sends nothing over anybody's link")
