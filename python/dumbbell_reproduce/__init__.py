"""Reproduction of measured runs: their paths, their simulated runs, and the causes of differences."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
