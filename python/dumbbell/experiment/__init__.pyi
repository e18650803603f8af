"""The names of this floor that others use, and where each is from: read when it is used."""

from .pin import pin as pin
from .planned import Experiment as Experiment, Run as Run, derive_seed as derive_seed
from .requested import with_request as with_request
from .resolve import everything as everything, resolve as resolve
from .specification import fitted_transport as fitted_transport
