"""Conformance to specifications: numbered cases with verdicts, reference traces, and scripts, also from packetdrill."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
