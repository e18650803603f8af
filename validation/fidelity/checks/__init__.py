"""Checks of published results: one file for each, which exports `CHECK`; the claim has the same name."""

from importlib import import_module
from pkgutil import iter_modules

from validation.fidelity.published_check import Check, order


def every() -> list[Check]:
    """Return all checks, by their names."""
    all_checks = [import_module(f"{__name__}.{module.name}").CHECK for module in iter_modules(__path__)]
    return sorted(all_checks, key=lambda check: order(check.id))
