"""The way from an experiment file and a request to the list of runs, each with its run spec."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
