"""Two machines: an agent at work at each end, and what the process that coordinates them says to each."""
