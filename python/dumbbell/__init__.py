"""dumbbell weighs congestion control: runs controllers over repeatable paths and measures every packet.

    import dumbbell

    results = dumbbell.run(schemes=["cubic", "bbr"], path="california-mexico", runs=3, duration=10)
    results.metrics                        # every number; a table for polars, pandas, DuckDB, pyarrow
    results.packets(scheme="bbr", flow=1)  # every packet of its first run
    results.figure("means")                # shows itself in a notebook

`docs/reference/library.md` goes through it.
"""

from dumbbell.base import starting

starting.watch()  # before anything else: Ctrl-C may come now

import lazy_loader  # noqa: E402

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
