"""A video call between two real browsers as a scheme: `python -m dumbbell.studies.webrtc send|receive` is a side."""
