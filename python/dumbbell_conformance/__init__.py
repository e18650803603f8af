"""Numbered conformance cases, run and judged; golden traces and scripts; scripts of packetdrill, converted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
