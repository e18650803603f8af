"""Installation of dumbbell on another machine."""
