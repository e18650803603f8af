"""Comparison of a candidate with a baseline by paired runs over common draws, as many as it takes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
