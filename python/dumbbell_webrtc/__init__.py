"""Scheme that is a video call between two real browsers. `python -m dumbbell_webrtc send|receive` runs one end."""
