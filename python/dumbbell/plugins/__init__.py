"""Controllers from outside: what a class in Python is told and answers; libraries and classes as schemes.

`docs/how-to/plugins.md` tells how to write one.
"""

from dumbbell.core import Ack, Control, Ecn, Frame, Loss, Packet, RateSample, Sent, Start, Timeout

__all__ = ["Ack", "Control", "Ecn", "Frame", "Loss", "Packet", "RateSample", "Sent", "Start", "Timeout"]
