"""Numbered conformance cases, run and judged; `vectors/`: golden traces and scripts; `packetdrill/`: its scripts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
