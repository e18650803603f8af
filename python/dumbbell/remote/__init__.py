"""Two machines: a peer process at work at each end, and what the process that coordinates them says to each."""
