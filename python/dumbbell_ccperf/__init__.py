"""ccperf's command line and tables, run with dumbbell's schemes, paths and runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
