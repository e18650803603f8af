"""`ReadOnly` of PEP 705 for type checkers. At run time, for decoders, a read-only key has the type of its value."""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import ReadOnly as ReadOnly
else:
    _Kind = TypeVar("_Kind")

    class ReadOnly:
        """A key that is never assigned."""

        def __class_getitem__(cls, kind: _Kind) -> _Kind:
            return kind
