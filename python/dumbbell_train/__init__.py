"""Training: learned controllers are made here, and what makes them is known by name (`kinds.py`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
