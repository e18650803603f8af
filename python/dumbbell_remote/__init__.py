"""Two machines: a peer process at work at each end, and what the process that coordinates them says to each."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
