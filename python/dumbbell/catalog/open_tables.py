"""Types of TOML tables that the catalog changes before the core checks them.

Their keys depend on their kind. Only the core knows these keys: it reads them strictly, and refuses unknown ones. Axes
of grids, options and studies change tables of any kind, so here the values have any type. Checked run specs have the
types of `dumbbell.contract.specification`.
"""

from typing import Any, TypeAlias

Element: TypeAlias = dict[str, Any]
"""An element of a path: an unchecked `ElementSpec`, which may have a trace file or a queue length in BDP."""
Queue: TypeAlias = dict[str, Any]
"""The queue of an element: an unchecked `QueueSpec`, whose limit may be in BDP or in ms."""
Transport: TypeAlias = dict[str, Any]
"""The transport of a scheme or a flow: an unchecked `TransportSpec`, or settings of the kernel's TCP."""
Application: TypeAlias = dict[str, Any]
"""The application of a scheme or a flow: an unchecked `ApplicationSpec`, which may have drawn sizes."""
