"""Published results: one file for each, which exports `CHECK`."""

from importlib import import_module
from pkgutil import iter_modules

from validation.fidelity.published_check import Check, order


def every() -> list[Check]:
    """All checks, by their names."""
    found = [module.CHECK for module in _modules()]
    return sorted(found, key=lambda check: order(check.id))


def _modules() -> list:  # type: ignore[type-arg]
    names = [module.name for module in iter_modules(__path__)]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "CHECK")]
