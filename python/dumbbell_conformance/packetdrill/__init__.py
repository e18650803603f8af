"""Scripts in the syntax of packetdrill, made scripts of dumbbell."""
