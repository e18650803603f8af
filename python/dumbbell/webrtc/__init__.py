"""A video call between two real browsers as a scheme: `python -m dumbbell.webrtc send|receive` is one side of it."""
