"""Comparison of a candidate with a baseline by paired runs over common draws, until each question is resolved."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
