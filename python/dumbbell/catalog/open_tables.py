"""Tables that TOML files have and the catalog changes before the core has checked them.

Their keys depend on their kind, which the core alone knows: it reads them strictly, and refuses what they may not have.
Axes of grids, options and studies change them whatever kind they are of, so that their values have any type here. What
a run is specified with, checked, has the types of `dumbbell.contract.specification`.
"""

from typing import Any, TypeAlias

Element: TypeAlias = dict[str, Any]
"""An element of a path: an `ElementSpec` before it is checked, perhaps with a trace file or a queue in BDP."""
Queue: TypeAlias = dict[str, Any]
"""The queue of an element: a `QueueSpec` before it is checked; its limit may be in BDP or in ms."""
Transport: TypeAlias = dict[str, Any]
"""The transport of a scheme or a flow: a `TransportSpec` before it is checked, or settings of the kernel's TCP."""
Application: TypeAlias = dict[str, Any]
"""The application of a scheme or a flow: an `ApplicationSpec` before it is checked, perhaps with drawn sizes."""
