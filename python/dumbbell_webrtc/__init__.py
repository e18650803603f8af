"""A video call between two real browsers as a scheme: `python -m dumbbell_webrtc send|receive` is a side."""
