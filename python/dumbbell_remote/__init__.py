"""Runs between two machines: a peer process on each, and the local process that coordinates both."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
