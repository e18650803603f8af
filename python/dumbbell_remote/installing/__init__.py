"""Puts dumbbell onto another machine."""
