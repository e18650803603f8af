"""External controllers: the types of events and answers of a class in Python; libraries and classes as schemes.

`docs/how-to/plugins.md` describes how to write one.
"""

from dumbbell.core import Ack, Control, Ecn, Frame, Loss, Packet, RateSample, Sent, Start, Timeout

__all__ = ["Ack", "Control", "Ecn", "Frame", "Loss", "Packet", "RateSample", "Sent", "Start", "Timeout"]
