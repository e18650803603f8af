"""Conversion of scripts in packetdrill's syntax to scripts of dumbbell."""
